"""Texts of queries whose tables are called otherwise by now: the same query in the names of today.

SELECT t.a FROM t      where t is called u, and its column a is called b
    →   SELECT t.a FROM (SELECT b AS a FROM u) AS t
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from planner.identifiers import relation_name
from planner.parsing.parse import parse_query
from planner.parsing.rewritten_text import Replaced, spliced
from planner.parsing.table_references import recurring_name, table_nodes
from planner.relation_names import PUBLIC, split_name

Renamed = tuple[str, Mapping[str, str]]
"""The full name that a relation has now; and the names of its columns, by those that the query uses, empty if
they are the same."""


def renamed_text(text: str, dialect: str, renamed: Mapping[str, Renamed]) -> str:
    """The text of a query with relations, by the full names in it, as they are called now. A name by which
    columns are qualified stays as an alias."""
    query = parse_query(text, dialect)
    qualifiers = {name for c in query.find_all(exp.Column) for name in (c.table.lower(), c.name.lower())}
    replaced = []
    for node in _named(query):
        full = relation_name(node)
        if full not in renamed:
            continue
        now, columns = renamed[full]
        new = _from(now, columns, dialect)
        if not node.alias and (columns or node.name.lower() in qualifiers):
            new += f" AS {_quoted(node.name, dialect, node.this.args.get('quoted', False))}"
        replaced.append(_replacing(node, new))
    return spliced(text, sorted(replaced))


def _named(query: exp.Expression) -> Iterator[exp.Table]:
    yield from (node for node in table_nodes(query) if isinstance(node.this, exp.Identifier))
    for node in query.find_all(exp.Table):
        if node.args.get("db") and isinstance(node.this, exp.Identifier) and recurring_name(node) is None:
            yield node


def _replacing(node: exp.Table, new: str) -> Replaced:
    first = node.args.get("db") or node.this
    return first.meta["start"], node.this.meta["end"], new


def _from(full: str, columns: Mapping[str, str], dialect: str) -> str:
    """What stands for a relation in FROM, with its columns by the names that the query uses."""
    schema, name = split_name(full)
    found = _quoted(name, dialect)
    if schema != PUBLIC:
        found = f"{_quoted(schema, dialect)}.{found}"
    if not columns:
        return found
    listed = (
        _quoted(now, dialect) if now == used else f"{_quoted(now, dialect)} AS {_quoted(used, dialect)}"
        for used, now in columns.items()
    )
    return f"(SELECT {', '.join(listed)} FROM {found})"


def _quoted(name: str, dialect: str, always: bool = False) -> str:
    """A name in SQL, quoted if necessary."""
    quoted = always or not name.isidentifier() or name != name.lower()
    return exp.to_identifier(name, quoted=quoted).sql(dialect)
