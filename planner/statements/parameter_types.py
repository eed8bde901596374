"""The types of a statement's parameters `$1`, `$2`, ..., as their places want them.

A parameter takes the type of what it is compared with, added to or chosen beside, of the column that it is
stored in, or of the cast around it. Where the place does not say, it has none, and clients send a text. It is
SQL's rule for literals of unknown type, found out before there are values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError

from engine.schema import BIGINT, BOOLEAN, INTEGER, INTERVAL, TEXT, Kind, Schema, Type, array_of, numeric
from planner.dialects import in_duckdb
from planner.errors import PlannerError
from planner.identifiers import fold
from planner.native.reference import fill_places, type_of
from planner.parsing.dialect_parsers import trees_of
from planner.parsing.script import Piece
from planner.sql_types import data_type

SchemaOf = Callable[[str], Schema | None]
"""The schema of a relation by its name; None if there is none."""
_MOST = 65_535
"""The most parameters, as in PostgreSQL."""
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
_TEXTS = (exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo, exp.DPipe, exp.Escape)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_CHOICES = (exp.Coalesce, exp.Greatest, exp.Least, exp.Nullif)
_CONDITIONS = (exp.And, exp.Or, exp.Not, exp.Where, exp.Having)
_COUNTS = (exp.Limit, exp.Offset, exp.Fetch)
_MOMENTS = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.TIME})
_DIGITS = numeric(38, 10)


def parameter_types(piece: Piece, schema_of: SchemaOf) -> tuple[Type | None, ...]:
    """The type of each parameter from `$1` to the last one; None where the place does not say."""
    try:
        (tree,) = trees_of(list(piece.tokens), piece.script, piece.dialect, piece.names)
    except (SqlglotError, ValueError):
        return ()
    if tree is None:
        return ()
    names = _Names(tree, schema_of)
    found: dict[int, Type | None] = {}
    for node in tree.find_all(exp.Parameter):
        number = int(node.name) if node.name.isdigit() and len(node.name) < 6 else 0
        if 0 < number <= _MOST and found.get(number) is None:
            found[number] = _wanted(node, names)
    return tuple(found.get(number) for number in range(1, max(found, default=0) + 1))


class _Names:
    """What the names in a statement mean: columns by the tables, CTEs and aliases of the whole statement."""

    def __init__(self, tree: exp.Expr, schema_of: SchemaOf) -> None:
        self.tree = tree
        self._schemas: dict[str, Schema] = {}
        for table in tree.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier) and (schema := schema_of(fold(table.this))):
                alias = table.args.get("alias")
                name = alias.this if alias is not None and alias.this is not None else table.this
                self._schemas[fold(name)] = schema
        self._aliases: Mapping[str, exp.Expr] = {
            fold(alias.args["alias"]): alias.this
            for alias in tree.find_all(exp.Alias)
            if isinstance(alias.args.get("alias"), exp.Identifier)
        }
        self._looking: set[str] = set()

    def column(self, column: exp.Column) -> Type | None:
        """The type of a column; None if several tables have different ones of its name."""
        name, table = fold(column.this), column.args.get("table")
        schema = self._schemas.get(fold(table)) if isinstance(table, exp.Identifier) else None
        schemas = self._schemas.values() if schema is None else (schema,)
        types = {found.types[found.index(name)] for found in schemas if name in found.names}
        if types or name not in self._aliases or name in self._looking:
            return types.pop() if len(types) == 1 else None
        self._looking.add(name)
        try:
            return _type(self._aliases[name], self)
        finally:
            self._looking.discard(name)

    def target(self) -> list[Type] | None:
        """The types of the columns that an INSERT fills."""
        if not isinstance(self.tree, exp.Insert):
            return None
        into = self.tree.this
        table = into.this if isinstance(into, exp.Schema) else into
        schema = self._schemas.get(fold(table.args["alias"].this if table.args.get("alias") else table.this))
        if schema is None:
            return None
        if not isinstance(into, exp.Schema):
            return list(schema.types)
        names = [
            fold(part) if isinstance(part, exp.Identifier) else fold(part.this) for part in into.expressions
        ]
        return [schema.types[schema.index(name)] if name in schema.names else TEXT for name in names]


def _wanted(node: exp.Expr, names: _Names) -> Type | None:
    """The type that the place of a node wants."""
    parent = node.parent
    while isinstance(parent, exp.Paren):
        node, parent = parent, parent.parent
    match parent:
        case exp.Cast() | exp.TryCast():
            return _of_cast(parent)
        case exp.Any() | exp.All():
            other = _beside(parent, names)
            return None if other is None else array_of(other)
        case exp.Array() if isinstance(parent.parent, exp.Any):
            return _beside(parent.parent, names)
        case exp.Array():
            return _first(parent.expressions, node, names)
        case exp.In() | exp.Between():
            parts = [parent.this, *parent.expressions, parent.args.get("low"), parent.args.get("high")]
            return _first(parts, node, names)
        case exp.Tuple():
            return _of_tuple(node, parent, names)
        case exp.Select():
            return _of_select(node, parent, names)
        case exp.If() | exp.Case():
            return _of_case(node, parent, names)
    if isinstance(parent, _COMPARED):
        return _beside(node, names)
    if isinstance(parent, _TEXTS):
        return TEXT
    if isinstance(parent, _ARITHMETIC):
        return _added(_beside(node, names), parent)
    if isinstance(parent, _CHOICES):
        return _first([parent.this, *parent.expressions, parent.args.get("expression")], node, names)
    if isinstance(parent, _CONDITIONS):
        return BOOLEAN
    return BIGINT if isinstance(parent, _COUNTS) else None


def _of_cast(cast: exp.Expr) -> Type | None:
    to = cast.args["to"]
    if isinstance(to, exp.DataType) and to.this is exp.DType.DECIMAL and not to.expressions:
        return _DIGITS
    try:
        return data_type(to.copy())
    except PlannerError:
        return None


def _beside(node: exp.Expr, names: _Names) -> Type | None:
    """The type of the other side of the operator that a node is a side of."""
    parent = node.parent
    if parent is None:
        return None
    other = parent.args.get("expression") if parent.this is node else parent.this
    return None if other is None else _type(other, names)


def _added(other: Type | None, parent: exp.Expr) -> Type | None:
    if other is None:
        return None
    if other.kind is Kind.DATE:
        return INTEGER
    return INTERVAL if other.kind in _MOMENTS else other


def _first(parts: list[exp.Expr | None], node: exp.Expr, names: _Names) -> Type | None:
    """The type of the first of the parts, besides the node, that has one."""
    types = (_type(part, names) for part in parts if part is not None and part is not node)
    return next((type for type in types if type is not None), None)


def _of_tuple(node: exp.Expr, row: exp.Tuple, names: _Names) -> Type | None:
    """A row of VALUES, or one that is compared with another row."""
    place = next(i for i, part in enumerate(row.expressions) if part is node)
    parent = row.parent
    if isinstance(parent, exp.Values):
        target = names.target() if parent.parent is names.tree else None
        if target is not None:
            return target[place] if place < len(target) else None
        return _first([_cell(other, place) for other in parent.expressions], node, names)
    if parent is None:
        return None
    other = parent.this if parent.this is not row else parent.args.get("expression")
    return _type(other.expressions[place], names) if isinstance(other, exp.Tuple) else None


def _cell(row: exp.Expr, place: int) -> exp.Expr | None:
    return row.expressions[place] if isinstance(row, exp.Tuple) and place < len(row.expressions) else None


def _of_select(node: exp.Expr, select: exp.Select, names: _Names) -> Type | None:
    """The column of an INSERT that a column of its query fills."""
    places = [i for i, part in enumerate(select.expressions) if part is node]
    target = names.target() if select.parent is names.tree else None
    return target[places[0]] if target and places and places[0] < len(target) else None


def _of_case(node: exp.Expr, parent: exp.Expr, names: _Names) -> Type | None:
    """A condition, or one of the values of CASE."""
    case = parent.parent if isinstance(parent, exp.If) and isinstance(parent.parent, exp.Case) else parent
    compared = case.this if isinstance(case, exp.Case) else None
    if (isinstance(parent, exp.If) and parent.this is node) or compared is node:
        return BOOLEAN if compared is None else _type(compared, names)
    values = [part.args.get("true") for part in case.args.get("ifs") or [parent]]
    return _first([*values, case.args.get("default"), case.args.get("false")], node, names)


def _type(node: exp.Expr, names: _Names) -> Type | None:
    """The type of an expression; None if it cannot be told."""
    match node:
        case exp.Paren() | exp.Alias():
            return _type(node.this, names)
        case exp.Parameter() | exp.Null() | exp.Star() | exp.Query():
            return None
        case exp.Any() | exp.All():
            inner = _type(node.this, names)
            return inner.element if inner is not None else None
        case exp.Column():
            return names.column(node)
        case exp.Cast() | exp.TryCast():
            return _of_cast(node)
        case exp.Literal(is_string=True):
            return TEXT
    return _computed(node, names)


def _computed(node: exp.Expr, names: _Names) -> Type | None:
    """The type of a computed expression, which DuckDB tells of typed, empty columns."""
    if node.find(exp.Parameter, exp.Query, exp.Window) is not None:
        return None
    types: list[Type] = []
    copy = node.copy()
    holder = exp.Paren(this=copy)
    for column in list(copy.find_all(exp.Column)):
        type = names.column(column)
        if type is None:
            return None
        column.replace(exp.Identifier(this=f"\x01{len(types)}\x02"))
        types.append(type)
    try:
        text = in_duckdb(holder.this).sql("duckdb", comments=False)
        template = text.replace("{", "").replace("}", "").replace("\x01", "{").replace("\x02", "}")
        fill_places(template, ["x"] * len(types))
        return type_of(template, tuple(types))
    except (PlannerError, SqlglotError, IndexError):
        return None
