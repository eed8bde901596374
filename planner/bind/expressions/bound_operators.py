"""Operators, CASE and IN, and what else is made of single values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from engine.plan.expressions import Call, Case, Cast, Foreign, Literal, Op
from engine.schema import BOOLEAN, DOUBLE, INTEGER, INTERVAL, REAL, TEXT, TIME, Kind, Type
from planner.bind.arrays import concatenated
from planner.bind.coercion import coerce, number_literal, text_literal
from planner.bind.document_edits import without
from planner.bind.documents import contains
from planner.bind.expressions.binding import Binding
from planner.bind.expressions.comparable_sides import comparable, condition
from planner.bind.expressions.operands import as_operands, bind_arithmetic
from planner.bind.expressions.taken_digits import (
    common_digits,
    take_common_digits,
    take_digits,
    take_digits_of_rows,
    with_common_digits,
)
from planner.bind.expressions.typed_alternatives import alternatives, case_values
from planner.bind.expressions.untyped_texts import is_untyped, take_beside
from planner.bind.members import any_of
from planner.bind.nested_values import compare_rows, compare_values
from planner.bind.scalar_functions import foreign
from planner.bind.session import Taken
from planner.bind.subqueries import member
from planner.dialects.day_sums import day_sum
from planner.dialects.postgres_values import written_value
from planner.dialects.row_comparisons import expanded_comparison, row_parts
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery
from planner.ir import Expression
from planner.ir.scalars import call, conjoin, disjoin, negate
from planner.native.reference import fill_places, literal_text
from planner.native.templates import is_native
from planner.positions import fail, refuse
from planner.sql_types import UNTYPED

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


_QUOTIENT_OF_INTERVAL = '"/"({0}, {1})'
"""The operator by its name, which is not read as one of whole numbers."""


def _take_form(binding: Binding, node: exp.Expression, form: str, type: Type) -> None:
    """Note what an operator is in DuckDB's SQL, which depends on the types of its sides."""
    binding.session.takes(node, Taken(type, form=form, parts=("this", "expression")))


def _seconds(binding: Binding, number: Expression, moment: Expression, node: exp.Expression) -> Expression:
    """The number of seconds that is added to a moment, as an interval; any other operand itself."""
    is_count = number.type.is_integer and moment.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
    return foreign("to_seconds({0})", [number], node, binding.session.dialect) if is_count else number


def rows_compared(
    binding: Binding, op: Op, left: Sequence[exp.Expression], right: Sequence[exp.Expression]
) -> Expression:
    """A comparison of rows without names. In DuckDB a row is a value, and NULL in it one too."""
    a, b = ([binding.bind(part) for part in side] for side in (left, right))
    for nodes, values in zip(zip(left, right, strict=False), zip(a, b, strict=False), strict=True):
        take_common_digits(binding.session, nodes, [value.type for value in values])
    compare = compare_values if binding.session.dialect == "duckdb" else compare_rows
    return compare(op, a, b, binding.session.dialect)


def bind_operation(binding: Binding, node: exp.Expression) -> Expression:
    left, right = binding.bind(node.this), binding.bind(node.expression)
    op = ARITHMETIC[type(node)]
    is_edit = op is Op.SUB and left.type.kind is Kind.JSON
    if is_edit and has(binding.session.dialect, Trait.EDITS_DOCUMENTS):
        return without(left, right, node, binding.session.dialect)
    given = left, right
    left, right = as_operands(op, left, right, binding.session.dialect)
    for part, text, operand in zip((node.this, node.expression), given, (left, right), strict=True):
        if is_untyped(text) and isinstance(operand, Cast):
            binding.session.takes(part, Taken(operand.type))
    if has(binding.session.dialect, Trait.COUNTS_TRUTH):
        left, right = (coerce(side, INTEGER) if side.type == BOOLEAN else side for side in (left, right))
    if op in (Op.ADD, Op.SUB) and has(binding.session.dialect, Trait.COUNTS_SECONDS):
        left, right = _seconds(binding, left, right, node), _seconds(binding, right, left, node)
    if op is Op.SUB and left.type == right.type == TIME:
        _take_form(binding, node, _BETWEEN_TIMES, INTERVAL)
        return foreign(_BETWEEN_TIMES, [left, right], node, binding.session.dialect)
    if op is Op.DIV and left.type == INTERVAL:
        _take_form(binding, node, _QUOTIENT_OF_INTERVAL, INTERVAL)
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
    if op is Op.MOD:
        left, right = _with_all_digits(binding, node, left, right)
    known = {id(node.this): left, id(node.expression): right}
    return bind_arithmetic(op, left, right) or binding.function(node, known)


def _with_all_digits(
    binding: Binding, node: exp.Expression, left: Expression, right: Expression
) -> tuple[Expression, Expression]:
    """The sides of a remainder of decimals, which DuckDB would compute as floats if it had more digits than
    there are."""
    types = [left.type, right.type]
    exact = all(type is not UNTYPED and (type.is_integer or type.kind is Kind.NUMERIC) for type in types)
    sides = [node.this, node.expression]
    if not exact:
        return left, right
    if take_common_digits(binding.session, sides, types):
        return coerce(left, common_digits(types)), coerce(right, common_digits(types))
    if any(type.kind is Kind.NUMERIC for type in types) and any(map(_is_huge, sides)):
        for side in sides:
            binding.session.takes(side, Taken(common_digits(types)))
    return left, right


def _is_huge(node: exp.Expr) -> bool:
    """Whether DuckDB has more digits for a whole number than there are for it here: for a sum of them."""
    return node.find(exp.Sum) is not None


def bind_concatenation(binding: Binding, node: exp.DPipe) -> Expression:
    """`||`, and what is noted of it for ad-hoc queries, where only DuckDB knows the types."""
    session, nodes = binding.session, [node.this, node.expression]
    bound = [binding.bind(each) for each in nodes]
    given = [_array_as(binding, *each) for each in zip(nodes, bound, reversed(bound), strict=True)]
    types = [side.type for side in given]
    sides = given
    if any(type.element is not None for type in types):
        if take_common_digits(session, nodes, types):
            sides = [coerce(side, with_common_digits(side.type, types)) for side in given]
    elif not is_native(node) and has(session.dialect, Trait.WRITES_FLOATS_BRIEFLY):
        sides = [_as_text(binding, side, each) for side, each in zip(given, nodes, strict=True)]
    found = concatenated(sides[0], sides[1], node, session.dialect)
    if any(type.element is not None for type in types):
        _take_concatenation(binding, node, given, found)
    return found


def _as_text(binding: Binding, side: Expression, node: exp.Expression) -> Expression:
    """A float or an interval beside a text, as the dialect writes it."""
    form = (
        written_value(side.type, binding.session.dialect) if side.type in (REAL, DOUBLE, INTERVAL) else None
    )
    if form is None or isinstance(side, Literal):
        return side
    binding.session.takes(node, Taken(TEXT, form=form))
    return foreign(form, [side], node, binding.session.dialect)


def _take_concatenation(
    binding: Binding, node: exp.DPipe, given: Sequence[Expression], found: Expression
) -> None:
    """Note how arrays are joined, or an array and an element."""
    for side, part in zip(given, ("this", "expression"), strict=True):
        if found is side:
            binding.session.takes(node, Taken(found.type, form="{0}", parts=(part,)))
            return
    if not isinstance(found, Foreign):
        return
    _take_form(binding, node, found.template, found.type)


def bind_containment(binding: Binding, node: exp.Expression) -> Expression:
    """`@>` and `<@`, which DuckDB has for arrays."""
    left, right = binding.bind(node.this), binding.bind(node.expression)
    dialect = binding.session.dialect
    is_turned = isinstance(node, exp.ArrayContainedBy)
    whole, part = (right, left) if is_turned else (left, right)
    if whole.type.kind is Kind.JSON:
        found = contains(whole, part.arg if isinstance(part, Cast) else part, node, dialect)
        texts = [literal_text(each) for each in found.args[1:] if isinstance(each, Literal)]
        form = fill_places(found.template, ["{0}", *texts])
        parts = ("expression",) if is_turned else ("this",)
        binding.session.takes(node, Taken(BOOLEAN, form=form, parts=parts))
        return found
    nodes = [node.this, node.expression]
    sides = [_array_as(binding, *each) for each in zip(nodes, (left, right), (right, left), strict=True)]
    take_common_digits(binding.session, nodes, [side.type for side in sides])
    if has(dialect, Trait.KEEPS_DIGITS):
        sides = list(comparable(*sides))
    whole, part = reversed(sides) if is_turned else sides
    return foreign("{0} @> {1}", [whole, coerce(part, whole.type)], node, dialect)


def _array_as(binding: Binding, node: exp.Expression, side: Expression, other: Expression) -> Expression:
    """A constant text beside an array, as an array; any other value itself."""
    if not is_untyped(side) or other.type.element is None:
        return side
    array = coerce(side, other.type)
    binding.session.takes(node, Taken(array.type, side))
    return array


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
    take_common_digits(binding.session, parts, [each.type for each in (value, *others)])
    return [value, *others]


def bind_in(binding: Binding, node: exp.In) -> Expression:
    query = node.args.get("query") or _only_query(node.expressions)
    if query is not None:
        row, rows = binding.row(node.this), binding.query(query)
        take_digits_of_rows(binding.session, node.this, row, query, rows)
        return member(row, rows, binding.session.dialect)
    if node.args.get("unnest") or node.args.get("field"):
        refuse(node, f"this form of IN is not supported: {node.sql(binding.session.dialect)}")
    return bind_any_of(binding, node.this, node.expressions)


def _only_query(candidates: list[exp.Expression]) -> exp.Expression | None:
    """The query in the parentheses of IN, which sqlglot takes for a list of one value."""
    inner = candidates[0] if len(candidates) == 1 else None
    while isinstance(inner, exp.Subquery | exp.Paren) and not inner.args.get("alias"):
        inner = inner.this
    return inner if isinstance(inner, exp.Query | exp.Values) else None


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
    types = [each.type for each in (bound, *listed)]
    take_common_digits(binding.session, [value, *candidates], types)
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
    tests = [binding.bind(when.this) for when in whens]
    if operand is not None and subject is not None:
        types = [each.type for each in (subject, *tests)]
        take_common_digits(binding.session, [operand, *(when.this for when in whens)], types)
    conditions = [
        condition(test, "the condition of CASE", binding.session.dialect)
        if subject is None
        else binding.compared(Op.EQ, subject, test)
        for test in tests
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
    take_digits(binding.session, nodes, [value.type for value in values[: len(nodes)]], type)


def _quotient_scale(left: Type, right: Type) -> int | None:
    """The digits behind the point of a quotient of decimals; None for whole numbers and floats."""
    if not all(type.is_integer or type.kind is Kind.NUMERIC for type in (left, right)):
        return None
    scales = [type.scale for type in (left, right) if type.scale is not None]
    return max(scales) if scales else None
