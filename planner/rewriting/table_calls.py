"""Functions that give texts split into rows, in FROM and in the select list, and in FROM one value.

regexp_split_to_table(s, p) AS x  →  unnest(regexp_split_to_array(s, p)) AS x(x)
lower(s) AS l(x)                  →  LATERAL (SELECT lower(s)) AS l(x)
"""

from __future__ import annotations

from sqlglot import exp

from planner.allowed.open_functions import PURE_BY_TOPIC
from planner.dialects.pattern_matches import all_matches
from planner.dialects.systems.postgresql import SPLIT, SPLIT_WITH_NULLS
from planner.dialects.traits import Trait, has
from planner.native import templates

_SPLITS = {
    "postgres": {
        "regexp_split_to_table": "regexp_split_to_array({0}, {1})",
        "string_to_table": SPLIT,
        "generate_subscripts": "CASE WHEN {1} = 1 THEN generate_series(1, len({0})) END",
    },
    "risingwave": {"range": "range({0}, {1})"},
    "tsql": {
        "string_split": "string_split({0}, {1})",
        "generate_series": "generate_series({0}, {1}, CASE WHEN {0} <= {1} THEN 1 ELSE -1 END)",
    },
}
_NAMES = {"tsql": "value"}
"""The column of the rows, where it has not the name of the table."""
_LISTS = frozenset({"generate_series", "range", "repeat", "unnest"})
_VALUES = frozenset(" ".join(PURE_BY_TOPIC.values()).split()) - _LISTS


def table_call(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The item of FROM for a call that gives values; None for any other item."""
    call = node.this if isinstance(node, exp.Table | exp.Lateral) else None
    if not isinstance(call, exp.Func):
        return None
    family = "postgres" if has(dialect, Trait.FUNCTIONS_ARE_TABLES) else dialect
    name = (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
    if family == "tsql" and (rows := _rows_of_tsql(call, name)) is not None:
        return _kept(node, rows, name, dialect)
    matches = all_matches(call, dialect) if family == "postgres" else None
    if matches is not None:
        return _kept(node, exp.Unnest(expressions=[matches]), name, dialect)
    template = _SPLITS.get(dialect, {}).get(name) or _SPLITS.get(family, {}).get(name)
    if name == "range" and len(call.expressions) == 3:
        template = "range({0}, {1}, {2})"
    if name == "string_to_table" and len(call.expressions) == 3:
        template = SPLIT_WITH_NULLS
    if template is not None and len(call.expressions) == 2 + template.count("{2}"):
        return _kept(node, exp.Unnest(expressions=[templates.sql(template, call.expressions)]), name, dialect)
    if family == "postgres" and name in _VALUES:
        query = exp.select(exp.alias_(call.copy(), node.alias or name))
        return _kept(node, exp.Lateral(this=query.subquery()), name, dialect)
    return None


def _rows_of_tsql(call: exp.Func, name: str) -> exp.Unnest | None:
    """STRING_SPLIT(s, ',', 1), whose rows have ordinals, and GENERATE_SERIES(1, 10, 3)."""
    args = call.expressions if isinstance(call, exp.Anonymous) else list(call.iter_expressions())
    if name == "generate_series":
        template = "generate_series({0}, {1}, {2})" if len(args) == 3 else _SPLITS["tsql"][name]
        return exp.Unnest(expressions=[templates.sql(template, args)])
    if len(args) != 3 or name != "string_split":
        return None
    lists = [_SPLITS["tsql"][name]]
    if args[2].name == "1":
        lists.append(f"range(1, len({lists[0]}) + 1)")
    return exp.Unnest(expressions=[templates.sql(each, args[:2]) for each in lists])


def row_call(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The elements of a list for a call that gives rows in a select list; None for any other node."""
    if not isinstance(node, exp.Anonymous) or isinstance(node.parent, exp.Table | exp.Lateral):
        return None
    family = "postgres" if has(dialect, Trait.FUNCTIONS_ARE_TABLES) else ""
    found = all_matches(node, dialect) if family else None
    template = _SPLITS.get(family, {}).get(node.name.lower())
    if template is not None and len(node.expressions) == 2:
        found = templates.sql(template, node.expressions)
    if found is None:
        return None
    rows = exp.Explode(this=found)
    is_item = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
    return exp.Alias(this=rows, alias=exp.to_identifier(node.name.lower())) if is_item else rows


def _kept(node: exp.Expression, item: exp.Expression, name: str, dialect: str) -> exp.Expression:
    """The item under the alias of the node, with its joins."""
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
    if not alias.columns and isinstance(item, exp.Unnest):
        names = [_NAMES.get(dialect, alias.name), "ordinal"][: len(item.expressions)]
        alias.set("columns", [exp.to_identifier(name) for name in names])
    item.set("alias", alias)
    joins = node.args.get("joins")
    return exp.Table(this=item, joins=joins) if joins else item
