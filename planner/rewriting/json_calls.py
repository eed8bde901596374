"""PostgreSQL's functions that give rows of JSON.

    jsonb_array_elements(j) AS e            →  unnest(the elements) AS e(value)
    jsonb_each(j) AS e                      →  unnest(the keys, the values) AS e(key, value)
    jsonb_to_recordset(j) AS r(a integer)   →  LATERAL (SELECT CAST(element ->> 'a' AS integer) AS a
                                                        FROM unnest(the elements) AS element) AS r

The name of a table of one value means the value too, as in PostgreSQL: `e` is `e.value`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.identifiers import fold
from planner.native import templates
from planner.native.jsonb import path_values
from planner.native.row_names import mark_row
from planner.positions import fail
from planner.rewriting.json_values import ELEMENT, element, lateral, named, typed_member

FAMILY = frozenset({"materialize", "postgres", "redshift", "risingwave"})
_CHECKED = (
    "CASE WHEN {{0}} IS NULL THEN NULL WHEN json_type({{0}}) = '{kind}' THEN {value} "
    "ELSE CAST(error('{fault}: ' || json_type({{0}})) AS {type}[]) END"
)
_AS_TEXT = "list_transform({0}, lambda x: x ->> '$')"


def _of(kind: str, value: str, fault: str, type: str) -> str:
    return _CHECKED.format(kind=kind, value=value, fault=fault, type=type)


_ELEMENTS = _of("ARRAY", "json_extract({0}, '$[*]')", "elements are those of an array, not of", "JSON")
_VALUES = _of("OBJECT", "json_extract({0}, '$.' || '*')", "members are those of an object, not of", "JSON")
_KEYS = _of("OBJECT", "json_keys({0})", "keys are those of an object, not of", "VARCHAR")


_RECORD = (
    "CASE json_type({0}) WHEN 'OBJECT' THEN {0} "
    "ELSE CAST(error('a record is an object, not: ' || {0}) AS JSON) END"
)
_ONE = f"[CASE WHEN {{0}} IS NOT NULL THEN {_RECORD} END]"
_MANY = f"list_transform({_ELEMENTS}, lambda x: {_RECORD.replace('{0}', 'x')})"


@dataclass(frozen=True)
class _Rows:
    """The columns of a function's rows by name; one without a name has that of its table."""

    lists: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return self.lists[0][0] if len(self.lists) == 1 else ""


_FUNCTIONS = {
    "array_elements": _Rows((("value", _ELEMENTS),)),
    "array_elements_text": _Rows((("value", _AS_TEXT.replace("{0}", _ELEMENTS)),)),
    "object_keys": _Rows((("", _KEYS),)),
    "each": _Rows((("key", _KEYS), ("value", _VALUES))),
    "each_text": _Rows((("key", _KEYS), ("value", _AS_TEXT.replace("{0}", _VALUES)))),
}
_RECORDS = {"to_record": False, "to_recordset": True}


def json_call(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The rows of a call in FROM, or in a select list; None for anything else."""
    if dialect not in FAMILY:
        return None
    if isinstance(node, exp.Anonymous):
        return None if _is_item(node.parent) else _in_select_list(node)
    call = node.this if _is_item(node) else None
    if not isinstance(call, exp.Anonymous):
        return None
    name = _name(call)
    if name in _RECORDS and len(call.expressions) == 1:
        return _records(node, call, many=_RECORDS[name])
    lists = _lists(call)
    return _unnested(node, lists, call.name.lower()) if lists else None


def with_row_names(tree: exp.Expression, dialect: str) -> None:
    """Make the name of a table of one value, where it stands alone, that of the value."""
    if dialect not in FAMILY:
        return
    for node in tree.find_all(exp.Table, exp.Lateral):
        rows = _FUNCTIONS.get(_name(node.this)) if _is_item(node) else None
        select = node.find_ancestor(exp.Select)
        if rows is None or not rows.name or not node.alias or select is None:
            continue
        alias = node.args["alias"]
        column = alias.columns[0] if alias.columns else exp.to_identifier(rows.name)
        for use in list(select.find_all(exp.Column)):
            if not use.table and fold(use.this) == fold(alias.this) != fold(column):
                use.replace(_row_value(use, alias.this, column))


def _row_value(use: exp.Column, table: exp.Identifier, column: exp.Identifier) -> exp.Expression:
    """The one column of a row, under the name of the row where the column would have a name of its own."""
    value = exp.Column(this=column.copy(), table=table.copy())
    value.this.meta.update(use.this.meta)
    mark_row(value)
    is_item = isinstance(use.parent, exp.Select) and use.arg_key == "expressions"
    return exp.Alias(this=value, alias=use.this.copy()) if is_item else value


def _is_item(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Table | exp.Lateral) and isinstance(node.this, exp.Anonymous)


def _name(call: exp.Expr | None) -> str:
    """The function's name without its type; empty for anything else."""
    name = call.name.lower() if isinstance(call, exp.Anonymous) else ""
    for prefix in ("jsonb_", "json_"):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return ""


def _lists(call: exp.Anonymous) -> list[tuple[str, exp.Expression]]:
    """The names and the lists of the columns of a call's rows."""
    name = _name(call)
    if name == "path_query" and len(call.expressions) in (2, 3):
        return [("", templates.whole(path_values(call.expressions), call.expressions[0]))]
    if name not in _FUNCTIONS or len(call.expressions) != 1:
        return []
    return [
        (column, templates.whole(template, *call.expressions)) for column, template in _FUNCTIONS[name].lists
    ]


def _in_select_list(call: exp.Anonymous) -> exp.Expression | None:
    """The elements of one list, as the select list unnests them."""
    lists = _lists(call)
    if len(lists) != 1:
        return None
    rows = exp.Explode(this=lists[0][1])
    if isinstance(call.parent, exp.Select) and call.arg_key == "expressions":
        return exp.Alias(this=rows, alias=exp.to_identifier(call.name.lower()))
    return rows


def _unnested(node: exp.Expression, lists: list[tuple[str, exp.Expression]], called: str) -> exp.Expression:
    """The lists side by side, under the table's alias, with the joins behind it."""
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(called))
    ordinality = bool(node.args.get("ordinality"))
    names = [*(name or alias.name for name, _ in lists), *(["ordinality"] if ordinality else [])]
    given = alias.columns
    alias.set("columns", [*given, *map(exp.to_identifier, names[len(given) :])])
    rows = exp.Unnest(expressions=[each for _, each in lists], alias=alias, offset=ordinality)
    joins = node.args.get("joins")
    return exp.Table(this=rows, joins=joins) if joins else rows


def _records(node: exp.Expression, call: exp.Anonymous, many: bool) -> exp.Expression:
    """A row for the object, or one for each object of the array, with the columns that the alias lists."""
    alias = node.args.get("alias")
    columns = list(alias.columns) if alias is not None else []
    if alias is None or not columns or not all(column.args.get("kind") for column in columns):
        hint = f"write {call.name.lower()}(document) AS r(a integer, b text)"
        fail(InvalidQuery(f"{call.name.lower()} takes names and types of columns", hint), call)
    template = _MANY if many else _ONE
    items = [_member(column) for column in columns]
    query = exp.select(*items, copy=False).from_(element(templates.whole(template, *call.expressions)))
    alias.set("columns", None)
    return lateral(query, alias, node)


def _member(column: exp.ColumnDef) -> exp.Expression:
    name = fold(column.this)
    return named(typed_member(ELEMENT, name, column.args["kind"]), name)
