"""Outer joins that are written with (+) in WHERE.

    FROM a, b WHERE a.x = b.x(+) AND a.y > 1   →   FROM a LEFT JOIN b ON a.x = b.x WHERE a.y > 1

Conditions with a mark belong to the join of the table that has it, the others stay.
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from planner.positions import refuse

_MARK = "join_mark"


def joined_by_marks(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query with LEFT JOINs; None if no condition of its WHERE has a mark. Raises Unsupported for marks
    that do not say which table is joined to which."""
    if not isinstance(node, exp.Select):
        return None
    where = node.args.get("where")
    if where is None or not _marked(where):
        return None
    found = node.copy()
    parts = _conjuncts(found.args["where"].this)
    rest = [part for part in parts if not _marked(part)]
    marked: dict[str, list[exp.Expression]] = {}
    for part in parts:
        if _marked(part):
            marked.setdefault(_table(part), []).append(part)
    items = _items(found)
    tables = {item.alias_or_name.lower(): item for item in items}
    if not marked.keys() <= tables.keys() or len(tables) != len(items):
        _refuse(where, "name the table of each column with (+)")
    unmarked = [item for name, item in tables.items() if name not in marked]
    if not unmarked:
        _refuse(where, "one table has no (+)")
    joins = [exp.Join(this=item, kind="CROSS") for item in unmarked[1:]]
    seen = tables.keys() - marked.keys()
    while marked:
        ready = next((name for name, tests in marked.items() if _others(tests, name) <= seen), None)
        if ready is None:
            _refuse(where, "write LEFT JOIN ... ON")
        conditions = [_unmarked(test) for test in marked.pop(ready)]
        joins.append(exp.Join(this=tables[ready], side="LEFT", on=exp.and_(*conditions)))
        seen |= {ready}
    found.set("from_", exp.From(this=unmarked[0]))
    found.set("joins", joins)
    found.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    return found


def _marked(node: exp.Expression) -> list[exp.Column]:
    return [column for column in node.find_all(exp.Column) if column.args.get(_MARK)]


def _conjuncts(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    return _conjuncts(node.this) if isinstance(node, exp.Paren) and isinstance(node.this, exp.And) else [node]


def _items(query: exp.Select) -> list[exp.Expression]:
    """The tables between the commas of FROM, which may have no other joins."""
    joins = query.args.get("joins") or []
    if any(join.args.get(part) for join in joins for part in ("on", "using", "side", "kind", "method")):
        _refuse(query.args["where"], "a query with (+) has commas between its tables, and no JOIN")
    return [query.args["from_"].this, *(join.this for join in joins)]


def _table(part: exp.Expression) -> str:
    """The one table whose columns have marks in a condition."""
    names = {column.table.lower() for column in _marked(part)}
    if len(names) != 1 or part.find(exp.Or, exp.Query, exp.In):
        _refuse(part, "write LEFT JOIN ... ON")
    return names.pop()


def _others(tests: list[exp.Expression], name: str) -> set[str]:
    """The other tables that a join's conditions name."""
    return {column.table.lower() for test in tests for column in test.find_all(exp.Column)} - {name, ""}


def _unmarked(test: exp.Expression) -> exp.Expression:
    for column in _marked(test):
        column.set(_MARK, None)
    return test


def _refuse(node: exp.Expression, hint: str) -> NoReturn:
    refuse(node, "this use of (+) is not supported", hint)
