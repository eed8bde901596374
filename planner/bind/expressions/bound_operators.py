"""Operators, CASE and IN, and what else is made of single values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from engine.plan.expressions import Call, Case, Cast, Foreign, Literal, Op
from engine.schema import BOOLEAN, INTEGER, TEXT, TIME, Kind, Type, numeric
from planner.bind.coercion import coerce, number_literal, text_literal
from planner.bind.document_edits import without
from planner.bind.documents import contains, has_key
from planner.bind.expressions.binding import Binding
from planner.bind.expressions.comparable_sides import condition, would_be_rounded
from planner.bind.expressions.operands import as_operands, bind_arithmetic
from planner.bind.expressions.typed_alternatives import alternatives, case_values
from planner.bind.expressions.untyped_texts import is_untyped, take_beside
from planner.bind.members import any_of
from planner.bind.nested_values import compare_rows, compare_values
from planner.bind.scalar_functions import foreign
from planner.bind.session import Taken
from planner.bind.subqueries import member
from planner.bind.unions import take_columns
from planner.dialects.day_sums import day_sum
from planner.dialects.row_comparisons import expanded_comparison, row_parts
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery
from planner.ir import Expression
from planner.ir.scalars import call, conjoin, disjoin, negate
from planner.native.templates import is_native
from planner.positions import fail, refuse
from planner.sql_types import MAX_PRECISION, UNTYPED

ARITHMETIC: dict[type[exp.Expression], Op] = {
    exp.Add: Op.ADD,
    exp.Sub: Op.SUB,
    exp.Mul: Op.MUL,
    exp.Div: Op.DIV,
    exp.IntDiv: Op.INTDIV,
    exp.Mod: Op.MOD,
}
_PLAIN_NUMBER = re.compile(r"\d{1,18}(\.\d{1,18})?")
_DECIMAL_QUOTIENT = (
    "CAST({0} / CASE WHEN {1} = 0 THEN CAST('division by zero: ' || CAST({1} AS VARCHAR) AS DOUBLE)"
    " ELSE {1} END AS DECIMAL(38, {SCALE}))"
)
_BETWEEN_TIMES = "to_microseconds(epoch_us({0}) - epoch_us({1}))"


def _seconds(binding: Binding, number: Expression, moment: Expression, node: exp.Expression) -> Expression:
    """The number of seconds that is added to a moment, as an interval; any other operand itself."""
    is_count = number.type.is_integer and moment.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
    return foreign("to_seconds({0})", [number], node, binding.session.dialect) if is_count else number


def rows_compared(
    binding: Binding, op: Op, left: Sequence[exp.Expression], right: Sequence[exp.Expression]
) -> Expression:
    """A comparison of rows without names. In DuckDB a row is a value, and NULL in it one too."""
    a, b = ([binding.bind(part) for part in side] for side in (left, right))
    compare = compare_values if binding.session.dialect == "duckdb" else compare_rows
    return compare(op, a, b, binding.session.dialect)


def bind_operation(binding: Binding, node: exp.Expression) -> Expression:
    left, right = binding.bind(node.this), binding.bind(node.expression)
    op = ARITHMETIC[type(node)]
    is_edit = op is Op.SUB and left.type.kind is Kind.JSON
    if is_edit and has(binding.session.dialect, Trait.EDITS_DOCUMENTS):
        return without(left, right, node, binding.session.dialect)
    left, right = as_operands(op, left, right, binding.session.dialect)
    if has(binding.session.dialect, Trait.COUNTS_TRUTH):
        left, right = (coerce(side, INTEGER) if side.type == BOOLEAN else side for side in (left, right))
    if op in (Op.ADD, Op.SUB) and has(binding.session.dialect, Trait.COUNTS_SECONDS):
        left, right = _seconds(binding, left, right, node), _seconds(binding, right, left, node)
    if op is Op.SUB and left.type == right.type == TIME:
        return foreign(_BETWEEN_TIMES, [left, right], node, binding.session.dialect)
    if op is Op.ADD and has(binding.session.dialect, Trait.ADDS_TEXTS) and left.type == right.type == TEXT:
        return Foreign("{0} || {1}", (left, right), TEXT)  # type: ignore[arg-type]
    if has(binding.session.dialect, Trait.ADDS_DAYS) and (days := day_sum(op, left.type, right.type)):
        return foreign(days, [left, right], node, binding.session.dialect)
    if op is Op.DIV and node.args.get("typed") and left.type.is_whole and right.type.is_whole:
        op = Op.INTDIV
    if op is Op.DIV and has(binding.session.dialect, Trait.DIVIDES_DECIMALS) and not is_native(node):
        scale = _quotient_scale(left.type, right.type)
        if scale is not None:
            form = _DECIMAL_QUOTIENT.replace("{SCALE}", str(scale))
            return foreign(form, [left, right], node, binding.session.dialect)
    is_whole = left.type.is_integer and right.type.is_integer
    if isinstance(node, exp.IntDiv) and has(binding.session.dialect, Trait.DIV_GIVES_WHOLE) and not is_whole:
        return foreign("CAST(trunc({0} / {1}) AS BIGINT)", [left, right], node, binding.session.dialect)
    known = {id(node.this): left, id(node.expression): right}
    return bind_arithmetic(op, left, right) or binding.function(node, known)


def bind_containment(binding: Binding, node: exp.Expression) -> Expression:
    """`@>`, `<@` and `?`; DuckDB has the first two for arrays."""
    left, right = binding.bind(node.this), binding.bind(node.expression)
    dialect = binding.session.dialect
    if isinstance(node, exp.JSONBContainsTopKey):
        return has_key(left, right, node, dialect)
    whole, part = (right, left) if isinstance(node, exp.ArrayContainedBy) else (left, right)
    if whole.type.kind is Kind.JSON:
        return contains(whole, part.arg if isinstance(part, Cast) else part, node, dialect)
    return foreign("{0} @> {1}", [whole, coerce(part, whole.type)], node, dialect)


def bind_negative(binding: Binding, node: exp.Neg) -> Expression:
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return number_literal(f"-{node.this.this}")
    value = binding.bind(node.this)
    if value.type is UNTYPED:
        return value
    if not value.type.is_numeric:
        return binding.function(node, {id(node.this): value})
    if value.type.whole and not value.type.bounds[0]:
        return call(Op.SUB, coerce(Literal(0, INTEGER), value.type), value, type=value.type)
    return call(Op.NEG, value, type=value.type)


def bind_is(binding: Binding, node: exp.Is) -> Expression:
    of_row = expanded_comparison(node, binding.session.dialect)
    if of_row is not node:
        return binding.bind(of_row)
    value = binding.bind(node.this)
    if isinstance(node.expression, exp.Null):
        result: Expression = call(Op.IS_NULL, value)
    elif isinstance(node.expression, exp.Boolean):
        result = call(
            Op.NOT_DISTINCT,
            condition(value, "the operand of IS", binding.session.dialect),
            binding.bind(node.expression),
        )
    else:
        return binding.function(node, {id(node.this): value})
    return negate(result) if node.args.get("negate") else result


def bind_between(binding: Binding, node: exp.Between) -> Expression:
    parts = [node.args[part] for part in ("this", "low", "high")]
    rows = [row_parts(part, binding.session.dialect) for part in parts]
    is_of_rows = None not in rows
    compare: Callable[..., Expression] = partial(rows_compared, binding) if is_of_rows else binding.compared
    value, low, high = rows if is_of_rows else _beside_each_other(binding, parts)
    inside = conjoin([compare(Op.GE, value, low), compare(Op.LE, value, high)])
    if not node.args.get("symmetric"):
        return inside
    turned = conjoin([compare(Op.GE, value, high), compare(Op.LE, value, low)])
    return disjoin([inside, turned])


def _beside_each_other(binding: Binding, parts: Sequence[exp.Expression]) -> list[Expression]:
    """A value and the ends of a range, or the elements of a list."""
    value, *others = map(binding.bind, parts)
    for part, other in zip(parts[1:], others, strict=True):
        take_beside(binding.session, part, other, value.type)
    return [value, *others]


def bind_in(binding: Binding, node: exp.In) -> Expression:
    query = node.args.get("query") or next((v for v in node.expressions if isinstance(v, exp.Values)), None)
    if query is not None:
        row, rows = binding.row(node.this), binding.query(query)
        types = [value.type for value in (*row, *rows.columns)]
        if len(row) == len(rows.columns) == 1:
            type = numeric(MAX_PRECISION, max(type.scale or 0 for type in types))
            if _take_digits(binding, [node.this, query], types, type):
                take_columns(binding.session, query, rows, [type])
        return member(row, rows, binding.session.dialect)
    if node.args.get("unnest") or node.args.get("field"):
        refuse(node, f"this form of IN is not supported: {node.sql(binding.session.dialect)}")
    return bind_any_of(binding, node.this, node.expressions)


def bind_any_of(binding: Binding, value: exp.Expression, candidates: list[exp.Expression]) -> Expression:
    """Whether `value` (or a row of values) equals one of the candidates."""
    rows = [row_parts(candidate, binding.session.dialect) for candidate in candidates]
    row = row_parts(value, binding.session.dialect)
    if row is not None and None not in rows:
        if any(len(each or ()) != len(row) for each in rows):
            fail(InvalidQuery(f"IN compares rows of {len(row)} values"), value)
        return disjoin(rows_compared(binding, Op.EQ, row, each or ()) for each in rows)
    listed, bound = [_listed(binding, each) for each in candidates], binding.bind(value)
    if not is_untyped(bound):
        for node, each in zip(candidates, listed, strict=True):
            take_beside(binding.session, node, each, bound.type)
    return any_of(bound, listed, binding.session.dialect)


def _listed(binding: Binding, node: exp.Expression) -> Expression:
    """An element of a list; a plain number or text means itself in every dialect."""
    if type(node) is exp.Literal and node.is_string and node.this:
        return text_literal(node.this)
    if type(node) is exp.Literal and not node.is_string and _PLAIN_NUMBER.fullmatch(node.this):
        return number_literal(node.this)
    return binding.bind(node)


def bind_case(binding: Binding, node: exp.Case | exp.If) -> Expression:
    whens = [node] if isinstance(node, exp.If) else node.args["ifs"]
    default = node.args.get("false") if isinstance(node, exp.If) else node.args.get("default")
    operand = node.this if isinstance(node, exp.Case) else None
    subject = binding.bind(operand) if operand is not None else None
    conditions = [
        condition(binding.bind(when.this), "the condition of CASE", binding.session.dialect)
        if subject is None
        else binding.compared(Op.EQ, subject, binding.bind(when.this))
        for when in whens
    ]
    values = [binding.bind(when.args["true"]) for when in whens]
    values.append(binding.bind(default) if default is not None else Literal(None, UNTYPED))
    nodes = [*(when.args["true"] for when in whens), *([default] if default is not None else [])]
    given = values
    values, type = case_values(given, binding.session.dialect)
    if type is UNTYPED:
        return Literal(None, UNTYPED)
    _take_alternatives(binding, nodes, given, type)
    return Case(tuple(zip(conditions, values[:-1], strict=True)), values[-1], type)  # type: ignore[arg-type]


def bind_alternatives(binding: Binding, op: Op, nodes: list[exp.Expression]) -> Expression:
    bound = [binding.bind(node) for node in nodes]
    values, type = alternatives(f"{op.value}({{}})", bound, binding.session.dialect)
    if type is UNTYPED:
        return Literal(None, UNTYPED)
    _take_alternatives(binding, nodes, bound, type)
    return Call(op, tuple(values), type) if len(values) > 1 else values[0]  # type: ignore[arg-type]


def bind_array(binding: Binding, node: exp.Array) -> Expression:
    """An array of values; its decimals keep their digits where the dialect keeps them."""
    values = [binding.bind(element) for element in node.expressions]
    if len({value.type.scale for value in values if value.type.kind is Kind.NUMERIC}) > 1:
        given = values
        values, type = alternatives("COALESCE({})", given, binding.session.dialect)
        _take_alternatives(binding, node.expressions, given, type)
    return binding.function(node, dict(zip(map(id, node.expressions), values, strict=True)))


def _take_alternatives(
    binding: Binding, nodes: Sequence[exp.Expression], values: Sequence[Expression], type: Type
) -> None:
    """Note what constant texts among alternatives are, and numbers whose digits DuckDB would leave out."""
    for node, value in zip(nodes, values[: len(nodes)], strict=True):
        take_beside(binding.session, node, value, type)
    _take_digits(binding, nodes, [value.type for value in values[: len(nodes)]], type)


def _take_digits(
    binding: Binding, nodes: Sequence[exp.Expression], types: Sequence[Type], type: Type
) -> bool:
    """Note numbers of some types that take all digits of a type, if DuckDB would round them to one of fewer;
    whether it would."""
    known = [each for each in types if each is not UNTYPED]
    if type.kind is not Kind.NUMERIC or not has(binding.session.dialect, Trait.KEEPS_DIGITS):
        return False
    if not would_be_rounded(known):
        return False
    for node, each in zip(nodes, types, strict=True):
        if each is not UNTYPED and each.is_numeric and each != type:
            binding.session.takes(node, Taken(type))
    return True


def _quotient_scale(left: Type, right: Type) -> int | None:
    """The digits behind the point of a quotient of decimals; None for whole numbers and floats."""
    if not all(type.is_integer or type.kind is Kind.NUMERIC for type in (left, right)):
        return None
    scales = [type.scale for type in (left, right) if type.scale is not None]
    return max(scales) if scales else None
