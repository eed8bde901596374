"""JSON_TABLE: rows and columns that paths find in a document, also nested ones.

    JSON_TABLE(j, '$[*]' COLUMNS (n FOR ORDINALITY, a integer PATH '$.a', NESTED '$.b[*]' COLUMNS (...))) AS r
    →  LATERAL (SELECT the members of row AS n, a, ... FROM unnest(the rows) AS row) AS r

A row is an array of JSON: for every level of paths in turn, its value and its number. A level that has no
row beside a row of another has NULL there. Rows of sibling levels follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.identifiers import fold
from planner.native import templates
from planner.native.json_paths import JsonPath, json_path, member
from planner.positions import fail
from planner.rewriting.json_values import ELEMENT, element, is_json, is_text, lateral, named

_STRICT = frozenset({"mysql", "singlestore", "tidb"})
"""Dialects whose paths do not look into arrays by themselves."""
_AS_WRITTEN = frozenset({"oracle"})
"""Dialects in which a column without a path has the member of its name as it is written."""
_NULL = "CAST(NULL AS JSON)"


@dataclass
class _Level:
    """A path, the slot of its value in a row, its columns, and the levels inside."""

    path: JsonPath
    slot: int
    columns: list[exp.JSONColumnDef] = field(default_factory=list)
    inner: list[_Level] = field(default_factory=list)

    @property
    def width(self) -> int:
        return 2 + sum(level.width for level in self.inner)

    def rows(self, document: str, depth: int = 0) -> str:
        """The list of the level's rows for a document, each of `width` parts."""
        value, place, row, all = (f"{name}{depth}" for name in ("value", "place", "row", "every"))
        own, found = f"{value}, to_json({place})", self.path.values(document)
        if not self.inner:
            return f"list_transform({found}, lambda {value}, {place}: [{own}])"
        parts, before = [], 0
        for level in self.inner:
            after = self.width - 2 - before - level.width
            pieces = [f"[{', '.join([own, *[_NULL] * before])}]", row, *([_nulls(after)] if after else [])]
            parts.append(f"list_transform({level.rows(value, depth + 1)}, lambda {row}: {_joined(pieces)})")
            before += level.width
        alone = f"[{own}, {', '.join([_NULL] * before)}]"
        filled = f"CASE WHEN len({all}) = 0 THEN [{alone}] ELSE {all} END"
        together = f"list_transform([{_joined(parts)}], lambda {all}: {filled})[1]"
        return f"flatten(list_transform({found}, lambda {value}, {place}: {together}))"


def json_table(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query for JSON_TABLE in FROM; None for any other item."""
    call = node.this if isinstance(node, exp.Table | exp.Lateral) else None
    if not isinstance(call, exp.JSONTable):
        return None
    if not call.args.get("path"):
        call.set("path", exp.Literal.string("$"))
    reading = _Reading(dialect, str(call.args.get("error_handling") or ""))
    level = reading.level(call.args["path"], call.args["schema"], 0)
    query = exp.select(*reading.items, copy=False).from_(
        element(templates.whole(level.rows("{0}"), call.this))
    )
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("json_table"))
    return lateral(query, alias, node)


class _Reading:
    """Reads the levels, and makes the columns in the order of the text."""

    def __init__(self, dialect: str, on_error: str) -> None:
        self.is_lax = dialect not in _STRICT
        self.dialect = dialect
        self.on_error = on_error if dialect == "oracle" else ""
        self.items: list[exp.Expression] = []

    def level(self, path: exp.Expression, schema: exp.JSONSchema, slot: int) -> _Level:
        level = _Level(json_path(path, self.is_lax), slot)
        for column in schema.expressions:
            nested = column.args.get("nested_schema")
            if nested:
                level.inner.append(self.level(column.args["path"], nested, slot + level.width))
            else:
                self.items.append(named(self._value(column, slot), fold(column.this)))
        return level

    def _value(self, column: exp.JSONColumnDef, slot: int) -> exp.Expression:
        """The column's value; NULL beside a row of another level."""
        row = f"{{0}}[{slot + 1}]"
        if column.args.get("ordinality"):
            return templates.whole(f"CAST({{0}}[{slot + 2}] AS INTEGER)", ELEMENT)
        kind = column.args.get("kind")
        if not isinstance(kind, exp.DataType):
            fail(
                InvalidQuery(f'column "{column.name}" has no type', "write name type PATH '$.name'"),
                column.this,
            )
        found = self._path(column).values(row)
        value = self._found(column, kind, found)
        if slot == 0:
            return value
        there = templates.whole(f"{row} IS NOT NULL", ELEMENT)
        return exp.Case(ifs=[exp.If(this=there, true=value)])

    def _path(self, column: exp.JSONColumnDef) -> JsonPath:
        if column.args.get("path"):
            return json_path(column.args["path"], self.is_lax)
        name = column.name if self.dialect in _AS_WRITTEN else fold(column.this)
        return JsonPath((member(name),), self.is_lax)

    def _found(self, column: exp.JSONColumnDef, kind: exp.DataType, found: str) -> exp.Expression:
        """The one value that is found, as a value of the type; else what the column says of it."""
        if column.args.get("exists"):
            return exp.Cast(this=templates.whole(f"len({found}) > 0", ELEMENT), to=kind.copy())
        on_empty = column.args.get("empty")
        on_error = column.args.get("error") or self.on_error
        fails = on_error == "ERROR ON ERROR"
        value = self._one(kind, found, bool(column.args.get("format_json")), fails)
        ifs = []
        if on_empty == "ERROR ON EMPTY":
            message = f"no value for column {column.name}".replace("'", "''")
            failing = templates.sql(f"error('{message}')", ())
            ifs.append(_if(f"len({found}) = 0", exp.Cast(this=failing, to=kind.copy())))
        elif isinstance(on_empty, exp.Expr):
            ifs.append(_if(f"len({found}) = 0", exp.Cast(this=on_empty.copy(), to=kind.copy())))
        if isinstance(on_error, exp.Expr):
            failed = templates.whole(f"len({found}) > 0 AND json_type({found}[1]) <> 'NULL'", ELEMENT)
            lost = exp.And(this=exp.Is(this=value.copy(), expression=exp.Null()), expression=failed)
            ifs.append(exp.If(this=lost, true=exp.Cast(this=on_error.copy(), to=kind.copy())))
        return exp.Case(ifs=ifs, default=value) if ifs else value

    def _one(self, kind: exp.DataType, found: str, as_json: bool, fails: bool) -> exp.Expression:
        """The one value that is found; NULL, or an error, if there are more, or if it does not fit."""
        type = "JSON" if is_json(kind) or as_json else "VARCHAR"
        many, nested = "NULL", "NULL"
        if fails:
            many = f"CAST(error('a path of JSON_TABLE leads to several values') AS {type})"
            nested = "CAST(error('a value of JSON_TABLE is an object or an array') AS VARCHAR)"
        one = "found[1]"
        if type == "VARCHAR":
            one = f"CASE WHEN json_type({one}) IN ('OBJECT', 'ARRAY') THEN {nested} ELSE {one} ->> '$' END"
        chosen = f"CASE len(found) WHEN 0 THEN NULL WHEN 1 THEN {one} ELSE {many} END"
        value = templates.whole(f"list_transform([{found}], lambda found: {chosen})[1]", ELEMENT)
        if is_json(kind) or (is_text(kind) and not as_json):
            return value
        cast = "CAST" if fails or as_json else "TRY_CAST"
        return templates.sql(f"{cast}({{0}} AS {kind.sql('duckdb')})", [value])


def _if(test: str, value: exp.Expression) -> exp.If:
    return exp.If(this=templates.whole(test, ELEMENT), true=value)


def _nulls(count: int) -> str:
    return f"[{', '.join([_NULL] * count)}]"


def _joined(lists: list[str]) -> str:
    """One list of several."""
    return lists[0] if len(lists) == 1 else f"list_concat({', '.join(lists)})"
