"""Aggregates of ad-hoc queries that DuckDB lacks under their names, or has as macros without clauses.

every(x)                              →  bool_and(x)
jsonb_agg(x ORDER BY y) FILTER (...)  →  to_json(list(x ORDER BY y) FILTER (...))
json_object_agg(k, v)                 →  the members' texts, joined
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.as_written import written_in
from planner.dialects.overloads import PREFIX
from planner.dialects.renamed_functions import is_row, row_as_json
from planner.dialects.traits import Trait, has
from planner.native.templates import call_of, is_native, sql

_CLAUSES = (exp.Filter, exp.Window)
_LISTED = frozenset({"json_agg", "json_array_agg", "json_arrayagg", "json_group_array", "jsonb_agg"})
_PAIRED = frozenset({"json_group_object", "json_object_agg", "json_objectagg", "jsonb_object_agg"})
_MEMBER = (
    "to_json(CASE WHEN {0} IS NULL THEN error('the name of a JSON member is NULL')"
    " ELSE CAST({0} AS VARCHAR) END) || ':' || coalesce(to_json({1}), 'null')"
)


def with_known_aggregates(query: exp.Expression) -> None:
    """Replaces the calls of such aggregates in a query, with the clauses behind them."""
    dialect = written_in(query)
    if dialect == "duckdb":
        return
    for node in list(query.find_all(exp.Func)):
        name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if is_native(node):
            continue
        is_list = name in _LISTED or isinstance(node, exp.JSONArrayAgg)
        is_object = name in _PAIRED or isinstance(node, exp.JSONObjectAgg | exp.JSONBObjectAgg)
        if name == "every" and len(node.expressions) == 1:
            node.replace(exp.Anonymous(this="bool_and", expressions=[node.expressions[0].copy()]))
        elif is_list and len(values := _values(node)) == 1:
            _replace(node, _list(values[0], dialect), "to_json({0})")
        elif is_object and len(values := _values(node)) == 2:
            _replace(node, _members(values, dialect), "CAST('{' || {0} || '}' AS JSON)")


def _values(node: exp.Func) -> list[exp.Expression]:
    """The arguments of a call that has nothing else; none for any other call."""
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    given = {name: value for name, value in node.args.items() if value}
    if not given.keys() <= {"this", "expression", "expressions"}:
        return []
    found: list[exp.Expression] = []
    for value in given.values():
        found += value if isinstance(value, list) else [value]
    return [part for each in found for part in _pair(each)]


def _pair(node: exp.Expression) -> list[exp.Expression]:
    return [node.this, node.expression] if isinstance(node, exp.JSONKeyValue) else [node]


def _list(value: exp.Expression, dialect: str) -> exp.Expression:
    """The list of the values, in the order that is inside of the parentheses."""
    argument = value.copy()
    call = exp.Anonymous(this="list", expressions=[argument])
    inner: exp.Expression = argument
    while isinstance(inner, exp.Order | exp.Distinct):
        inner = inner.expressions[0] if isinstance(inner, exp.Distinct) else inner.this
    inner.replace(_document(inner, dialect))
    return call


def _members(values: list[exp.Expression], dialect: str) -> exp.Expression:
    """The members' texts behind each other."""
    name, value = values
    order = value.copy() if isinstance(value, exp.Order) else None
    member = sql(_MEMBER, [name, _document(value.this if order is not None else value, dialect)])
    separator: exp.Expression = exp.Literal.string(",")
    if order is not None:
        order.set("this", separator)
        separator = order
    return exp.Anonymous(this="string_agg", expressions=[member, separator])


def _document(value: exp.Expression, dialect: str) -> exp.Expression:
    """A value as the dialect has it in JSON."""
    if not has(dialect, Trait.DOCUMENTS_HAVE_ISO_TIMES) or isinstance(value, exp.Literal | exp.Null):
        return value.copy()
    if is_row(value):
        return row_as_json(value.copy())
    return call_of(f"{PREFIX}document_of", [value], "to_jsonb")


def _replace(node: exp.Expr, call: exp.Expression, template: str) -> None:
    """Puts a call with the clauses behind the node in its place."""
    whole = node
    while isinstance(whole.parent, _CLAUSES) and whole.arg_key == "this":
        whole = whole.parent
    if whole is node:
        node.replace(sql(template, [call]))
        return
    node.replace(call)
    whole.replace(sql(template, [whole]))
