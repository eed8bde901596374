"""Scalar functions without an engine operator: DuckDB expressions with places for arguments.

sqlglot writes the function in DuckDB's SQL, and DuckDB gives its type. Literals stay in the text, because
some functions need constants (the digits of `round`, the part of `date_trunc`). The variables of a lambda
stay too, with every expression that contains them. A function whose result changes over time is refused by
name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, UnsupportedError

from engine.plan.expressions import Foreign, Literal
from engine.schema import TEXT, Kind
from planner.allowed.check import REFERENCE, check
from planner.allowed.open_functions import AGGREGATES, PASSING, PURE, PURE_BY_TOPIC, SESSION
from planner.allowed.parse_tree import Closed, known_functions
from planner.bind.coercion import argument, cast_of_variant, typed
from planner.dialects import translated
from planner.dialects.other_systems import written_here
from planner.dialects.overloads import overload
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, PlannerError, UnknownFunction, Unsupported, UnsupportedType
from planner.ir import Expression
from planner.native.reference import PLACE, fault_of_pattern, type_of
from planner.native.templates import is_native
from planner.positions import fail, refuse
from planner.sql_types import UNTYPED
from planner.suggestions import did_you_mean

VALUES = (
    exp.Column,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Binary,
    exp.Unary,
    exp.Func,
    exp.Subquery,
    exp.In,
    exp.Between,
    exp.Predicate,
    exp.Filter,
    exp.WithinGroup,
    exp.IgnoreNulls,
    exp.RespectNulls,
    exp.Window,
    exp.Bracket,
    exp.AtTimeZone,
)
"""Nodes that stand for a value, and so become arguments."""
_BITS = (exp.BitString, exp.HexString)

_STRUCTURE = (exp.Slice, exp.Kwarg, exp.PropertyEQ)  # binary nodes that are not values

_VOLATILE = (
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.CurrentDatetime,
    exp.Localtime,
    exp.Localtimestamp,
    exp.CurrentUser,
    exp.Rand,
    exp.Randn,
    exp.Uuid,
)
_MARK = "__argument_"
_COUNTS = re.compile(
    r"(array_unique|cardinality|json_array_length|list_sum|list_unique)\([^()]*\)", re.IGNORECASE
)
"""Calls whose value is BIGINT here, as for count and sum; DuckDB's UBIGINT or HUGEINT would be NUMERIC."""
_PATTERN = re.compile(r"regexp_\w+\(\{\d+\}, ('(?:[^']|'')*')(?=\s*[,)])", re.IGNORECASE)
"""A constant regular expression that a value is held against. One that is put together is not known here."""
_OPERATOR_OF_TEXTS = re.compile(r" LIKE | ILIKE | \|\| | AS (TEXT|VARCHAR)\)")
_BESIDE_TEXTS = frozenset({"cast", "encode", "octet_length", "try_cast", "typeof"})
"""Functions that sqlglot's translations of functions of texts call too."""
_TEXTUAL = frozenset(f"{PURE_BY_TOPIC['text']} {PURE_BY_TOPIC['patterns']}".split())

Bind = Callable[[exp.Expression], Expression]


def bind_function(node: exp.Expression, bind: Bind, dialect: str) -> Expression:
    """`node`, with arguments bound by `bind`, as a Foreign expression of DuckDB's type.

    A value whose type no column can have (a struct) may stand inside it, as part of its text.
    """
    refuse_volatile(node, dialect)
    arguments: list[Expression] = []
    template = _template(_with_places(node.copy(), node, bind, arguments, dialect), node)
    _check_names(template, node, dialect)
    if has(dialect, Trait.JSON_IS_VARIANT) and _takes_texts(template):
        arguments = [
            cast_of_variant(each, TEXT) if each.type.kind is Kind.JSON else each for each in arguments
        ]
    return foreign(template, arguments, node, dialect)


def _takes_texts(template: str) -> bool:
    """Whether DuckDB's expression is a function of texts: a variant among its arguments is a text."""
    names = set(re.findall(r"(\w+)\(", template.lower()))
    is_textual = not _TEXTUAL.isdisjoint(names) or _OPERATOR_OF_TEXTS.search(template) is not None
    return is_textual and names <= _TEXTUAL | _BESIDE_TEXTS


def foreign(template: str, arguments: Sequence[Expression], node: exp.Expression, dialect: str) -> Expression:
    """A DuckDB expression with DuckDB's type for it; errors have the place of `node`."""
    if _COUNTS.fullmatch(template):
        template = f"CAST({template} AS BIGINT)"
    try:
        type = type_of(template, tuple(argument(a) for a in arguments))
    except UnsupportedType as error:
        fail(UnsupportedType(f"{error.message}: {node.sql(dialect)}", error.hint), node)
    except UnknownFunction:
        name = _written_name(node).lower()
        fail(UnknownFunction(f'unknown function "{name}"', _instead(name, node, dialect)), node)
    except PlannerError as error:
        fail(error, node)
    if type is UNTYPED:
        return Literal(None, UNTYPED)
    for pattern in _PATTERN.findall(template):
        fault = fault_of_pattern(pattern)
        if fault is not None:
            fail(InvalidQuery(f"the pattern {pattern} cannot be read: {fault}"), node)
    values = tuple(typed(a) for a in arguments)
    return Foreign(template, values, type)  # type: ignore[arg-type]


def _written_name(node: exp.Expression) -> str:
    return node.name if isinstance(node, exp.Anonymous) or not isinstance(node, exp.Func) else node.sql_name()


@cache
def _known_functions(dialect: str) -> frozenset[str]:
    """The names of functions in DuckDB and in the dialect."""
    parsed = Dialect.get_or_raise(dialect).parser_class.FUNCTIONS
    there = frozenset(name for name in PURE | AGGREGATES if name.replace("_", "").isalnum())
    return there | {name.lower() for name in parsed if name.lower() not in known_functions()}


def refuse_volatile(node: exp.Expression, dialect: str) -> None:
    since_today = (
        isinstance(node, exp.Anonymous) and node.name.lower() == "age" and len(node.expressions) == 1
    )
    if isinstance(node, _VOLATILE) or since_today:
        fail(_volatile(node.sql(dialect)), node)


def _volatile(name: str) -> Unsupported:
    return Unsupported(
        f"{name} is not deterministic, so a view over it cannot be maintained",
        "write the value as a constant, or keep it in a table",
    )


def _with_places(
    copy: exp.Expression,
    original: exp.Expression,
    bind: Bind,
    arguments: list[Expression],
    dialect: str,
    variables: frozenset[str] = frozenset(),
) -> exp.Expression:
    """`copy` with a place for each value below it; the bound values are appended to `arguments`.

    `variables` are those of the lambdas around it.
    """
    pairs = list(zip(copy.iter_expressions(), original.iter_expressions(), strict=True))
    for child, source in pairs:
        known = variables
        if isinstance(source, exp.DataType) or (isinstance(source, exp.Interval) and is_constant(source)):
            continue
        if isinstance(source, exp.Lambda):
            known |= {parameter.name for parameter in source.expressions}
        elif _is_value(source, dialect) and not (
            isinstance(source, _STRUCTURE) or isinstance(original, exp.Escape) or _mentions(source, variables)
        ):
            try:
                bound = bind(source)
            except UnsupportedType:
                pass
            else:
                _place(child, bound, arguments)
                continue
        if variables and isinstance(source, VALUES):
            found = _in_lambda(source, dialect)
            if found is not source:
                new = found.copy()
                child.replace(new)
                child, source = new, found
        _with_places(child, source, bind, arguments, dialect, known)
    return copy


def _is_value(node: exp.Expr, dialect: str) -> bool:
    """Whether a node becomes an argument. In PostgreSQL's dialect literals of bits are no numbers, and E'...'
    is a text."""
    if isinstance(node, exp.ByteString):
        return has(dialect, Trait.FORMATS_LIKE_C)
    return isinstance(node, VALUES) or (dialect == "postgres" and isinstance(node, _BITS))


def _in_lambda(node: exp.Expression, dialect: str) -> exp.Expression:
    """A node over the variables of a lambda with its dialect's meaning, or the node itself. Raises
    Unsupported if the meaning depends on the type of a variable, which nobody knows here."""
    found = translated(node, dialect)
    is_open = any(is_native(part) and overload(part.name) for part in found.find_all(exp.Anonymous))
    if is_open and has(dialect, Trait.ABSENT_IS_DEFAULT):
        name = _written_name(node).lower()
        hint = "use a function of one type, or write the array's rows in FROM"
        refuse(node, f"{name} of the variable of a lambda is not supported", hint)
    return node if is_open else found


def is_constant(interval: exp.Interval) -> bool:
    """Whether the interval is a literal."""
    return isinstance(interval.this, exp.Literal)


def _mentions(node: exp.Expression, names: frozenset[str]) -> bool:
    return bool(names) and any(identifier.name in names for identifier in node.find_all(exp.Identifier))


def _place(child: exp.Expression, bound: Expression, arguments: list[Expression]) -> None:
    if isinstance(bound, Literal) and bound.type is UNTYPED and not isinstance(child, exp.Null):
        child.replace(exp.Null())
        return
    is_translated = isinstance(child, exp.Anonymous)  # a call of the dialect that is a constant
    if isinstance(bound, Literal) and not is_translated and not re.search(r"[{}]", str(bound.value)):
        return
    child.replace(exp.column(f"{_MARK}{len(arguments)}"))
    arguments.append(bound)


def _template(tree: exp.Expression, node: exp.Expression) -> str:
    """The tree in DuckDB's SQL. Raises Unsupported at `node` if DuckDB's SQL cannot express it."""
    try:
        text = tree.sql("duckdb", comments=False, unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as error:
        refuse(node, str(error))
    return re.sub(rf'"?{_MARK}(\d+)"?', lambda place: f"{{{place[1]}}}", text)


def _check_names(template: str, node: exp.Expression, dialect: str) -> None:
    """Refuse anything but deterministic scalar functions, whatever sqlglot calls them."""
    if isinstance(node, exp.UDTF | exp.Explode):
        refuse(node, f"{node.sql(dialect).split('(')[0].lower()} is not supported")
    try:
        check(f"SELECT {re.sub(PLACE, 'x', template)}", PURE)
    except Closed as found:
        fail(_refused(found, node, dialect), node)


def _refused(found: Closed, node: exp.Expression, dialect: str) -> PlannerError:
    """The error for a function that a view may not call."""
    name = found.function
    if name in PASSING or name in SESSION:
        return _volatile(f"{name}()")
    if name in AGGREGATES:
        return Unsupported(f"aggregate function {name} is not supported")
    if isinstance(found.error, UnknownFunction):
        return UnknownFunction(found.error.message, _instead(name, node, dialect))
    return found.error


def _instead(name: str, node: exp.Expression, dialect: str) -> str:
    """The hint for a function that is not known: another system's call in this dialect, or a near name."""
    found = written_here(node, name, dialect) if _written_name(node).lower() == name else ""
    return found or did_you_mean(name, _known_functions(dialect) - {name}, REFERENCE)
