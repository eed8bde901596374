"""Casts between the names of objects and their OIDs: `'orders'::regclass`, `c.oid::regtype`.

PostgreSQL's reg types are OIDs that are written as names. Here a cast is an OID where it is compared, or is
an argument of a function over catalogs, and a name where it is shown or becomes text. The names of literals
are resolved at once, so that they are constants in joins.
"""

from __future__ import annotations

from sqlglot import exp

from planner.catalog_queries.catalog_functions import FUNCTIONS, NUMBER_KINDS, name_of, number_of
from planner.catalog_queries.system_catalog import SystemCatalog
from planner.errors import InvalidQuery, UnknownTable
from planner.native.templates import sql
from planner.positions import fail
from planner.suggestions import did_you_mean

_TRANSPARENT = (
    exp.Paren,
    exp.Coalesce,
    exp.Case,
    exp.If,
    exp.Array,
    exp.Any,
    exp.All,
    exp.Tuple,
    exp.Bracket,
)
"""Nodes that pass on what they are given."""
_QUERIES = (exp.Alias, exp.Select, exp.SetOperation, exp.Values)
_COMPARISONS = (exp.Predicate, exp.Binary, exp.Ordered, exp.Group, exp.Window)
_TEXTS = (exp.DPipe, exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike)
_NUMBERS = frozenset({"oid", "int", "bigint", "integer", "int4", "int8", *NUMBER_KINDS})
_OF_TEXT = frozenset({"quote_ident", "quote_literal", "quote_nullable"})
FUNCTION_COLUMNS = frozenset(
    {"typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze", "typsubscript"}
    | {"oprcode", "oprrest", "oprjoin", "amhandler", "amproc", "aggfnoid", "aggtransfn", "aggfinalfn"}
    | {"prosupport", "rngcanonical", "rngsubdiff"}
)
"""Columns of type regproc."""


def type_name(node: exp.Expr | None) -> str:
    """The lower-case name of a type as it is written, without its schema and brackets."""
    match node:
        case exp.ObjectIdentifier() | exp.PseudoType():
            return node.name.lower()
        case exp.DataType(this=exp.DType.ARRAY, expressions=[inner]):
            return type_name(inner)
        case exp.DataType(this=exp.DType.USERDEFINED):
            kind = node.args.get("kind")
            if isinstance(kind, exp.Dot):
                kind = kind.expression
            return kind.name if isinstance(kind, exp.Identifier) else str(kind or "").lower()
        case exp.DataType(this=exp.Interval()):
            return "interval"
        case exp.DataType():
            return str(node.this.value).lower()
    return ""


def object_cast(cast: exp.Cast, kind: str, catalog: SystemCatalog) -> exp.Expression:
    """A cast to a reg type, as the number or the name that its place needs."""
    kind = "regproc" if kind == "regprocedure" else kind
    given = cast.this
    number = number_of(kind, "{0}")
    if isinstance(given, exp.Literal) and given.is_string:
        number, given = "CAST({0} AS UINTEGER)", exp.Literal.number(_number(cast, kind, catalog))
    elif isinstance(given, exp.Column) and given.name.lower() in catalog.oid_columns:
        number = "{0}"
    return sql(number if is_number(cast) else name_of(kind, number), [given])


def shown_function(column: exp.Column) -> exp.Expression:
    """A column of type regproc: the name of its function where it is shown."""
    return column if is_number(column) else sql(name_of("regproc", "{0}"), [column])


def literal_beside(literal: exp.Literal) -> str:
    """The reg type of what a literal is compared with, as `typinput = 'array_in'`; empty if it has none."""
    other = literal.parent
    if not isinstance(other, exp.EQ | exp.NEQ):
        return ""
    beside = other.expression if other.this is literal else other.this
    if isinstance(beside, exp.Cast):
        kind = type_name(beside.to)
        return kind if kind in NUMBER_KINDS else ""
    if isinstance(beside, exp.Column) and beside.name.lower() in FUNCTION_COLUMNS:
        return "regproc"
    return ""


def resolved(literal: exp.Literal, kind: str, catalog: SystemCatalog) -> exp.Expression:
    """The OID that a literal names."""
    return sql("CAST({0} AS UINTEGER)", [exp.Literal.number(_number(literal, kind, catalog))])


def is_number(node: exp.Expr) -> bool:
    """Whether the place of a value of a reg type takes an OID, rather than a name."""
    parent = node.parent
    match parent:
        case exp.Cast():
            name = type_name(parent.to)
            return name in _NUMBERS or (name in ("text", "varchar") and _is_argument(parent))
        case exp.Alias() | exp.Select() | exp.SetOperation() | exp.Values():
            return _selects_number(parent)
        case exp.Anonymous():
            return _is_argument(node)
    if isinstance(parent, _TEXTS):
        return False
    if isinstance(parent, _TRANSPARENT):
        return is_number(parent)
    return isinstance(parent, _COMPARISONS)


def _is_argument(node: exp.Expr) -> bool:
    """Whether the node is an argument of a function over catalogs, which takes OIDs and names alike."""
    call = node.parent
    name = call.name.lower() if isinstance(call, exp.Anonymous) else ""
    return name in FUNCTIONS and name not in _OF_TEXT


def is_shown(node: exp.Expr) -> bool:
    """Whether a value is a column of the whole query."""
    parent = node.parent
    while isinstance(parent, exp.Alias | exp.Select | exp.SetOperation | exp.Paren):
        parent = parent.parent
    return parent is None and not isinstance(node.parent, exp.Order)


def _selects_number(node: exp.Expr) -> bool:
    """Whether the query around a select item is an operand of a comparison, or is joined by its columns."""
    while isinstance(node, _QUERIES) or (isinstance(node, exp.From) and isinstance(node.this, exp.Values)):
        if node.parent is None or isinstance(node.parent, exp.With):
            return False
        node = node.parent
    if isinstance(node, exp.Subquery):
        return is_number(node)
    return isinstance(node, exp.In | exp.Any | exp.All)


def _number(node: exp.Cast | exp.Literal, kind: str, catalog: SystemCatalog) -> int:
    literal = node.this if isinstance(node, exp.Cast) else node
    if literal.name.isdecimal():
        return int(literal.name)
    if literal.name == "-":
        return 0
    found = catalog.number(kind, literal.name)
    if found is None:
        fail(_missing(kind, literal.name, catalog), node)
    return found


def _missing(kind: str, name: str, catalog: SystemCatalog) -> InvalidQuery | UnknownTable:
    if kind == "regclass":
        return UnknownTable(f'relation "{name}" does not exist', did_you_mean(name, catalog.relations))
    what = {"regtype": "type", "regnamespace": "schema", "regrole": "role"}.get(kind, "function")
    return InvalidQuery(f'{what} "{name}" does not exist')
