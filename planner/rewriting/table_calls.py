"""Functions in FROM that give texts split into rows, or one value.

regexp_split_to_table(s, p) AS x  →  unnest(regexp_split_to_array(s, p)) AS x(x)
lower(s) AS l(x)                  →  LATERAL (SELECT lower(s)) AS l(x)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from planner.allowed.open_functions import PURE_BY_TOPIC
from planner.dialects.pattern_matches import all_matches
from planner.native import templates
from planner.rewriting.row_functions import OF_POSTGRES, row_columns

_SPLITS = {"tsql": {"string_split": "string_split({0}, {1})"}}
_NAMES = {"tsql": "value"}
"""The column of the rows, where it has not the name of the table."""
_LISTS = frozenset({"generate_series", "range", "repeat", "unnest"})
_VALUES = frozenset(" ".join(PURE_BY_TOPIC.values()).split()) - _LISTS


def table_call(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The item of FROM for a call that gives values; None for any other item."""
    call = node.this
    if not isinstance(call, exp.Func):
        return None
    family = "postgres" if dialect in OF_POSTGRES else dialect
    name = (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
    matches = all_matches(call) if family == "postgres" else None
    if matches is not None:
        return _kept(node, exp.Unnest(expressions=[matches]), name, dialect)
    columns = row_columns(call, dialect)
    if columns:
        names = [column or node.alias or name for column, _ in columns]
        return _kept(node, exp.Unnest(expressions=[values for _, values in columns]), name, dialect, names)
    template = _SPLITS.get(family, {}).get(name)
    if template is not None and len(call.expressions) == 2:
        return _kept(node, exp.Unnest(expressions=[templates.sql(template, call.expressions)]), name, dialect)
    if family == "postgres" and name in _VALUES:
        query = exp.select(exp.alias_(call.copy(), node.alias or name))
        return _kept(node, exp.Lateral(this=query.subquery()), name, dialect)
    return None


def _kept(
    node: exp.Expression, item: exp.Expression, name: str, dialect: str, names: Sequence[str] = ()
) -> exp.Expression:
    """The item under the alias of the node, with its joins and, where none are written, the names of its
    columns."""
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
    if isinstance(item, exp.Unnest):
        if not alias.columns:
            names = names or [_NAMES.get(dialect, alias.name)]
            alias.set("columns", [*map(exp.to_identifier, names)])
        if node.args.get("ordinality"):
            item.set("offset", True)
    item.set("alias", alias)
    joins = node.args.get("joins")
    return exp.Table(this=item, joins=joins) if joins else item
