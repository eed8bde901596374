"""Comparisons with the time as trees: subexpressions with the time are expanded, the others become places.

ts > now() - INTERVAL '1 hour'    →    __part_0 > __now - INTERVAL '1 hour'
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp

from engine.codec.durations import interval_of
from engine.plan.expressions import Call, Cast, Foreign, Literal, Op
from engine.schema import DATE, INTERVAL, TEXT, TIMESTAMP, TIMESTAMPTZ, Type
from planner.errors import PlannerError
from planner.ir import Expression, Now, children
from planner.ir.scalars import COMPARISONS
from planner.native.reference import constant, type_of
from planner.sql_types import duckdb_type

_NOW = "__now"
_PART = "__part_"
_ARGUMENT = "__arg_"
_NODES: dict[Op, type[exp.Expression]] = {
    Op.ADD: exp.Add,
    Op.SUB: exp.Sub,
    Op.INTDIV: exp.IntDiv,
    Op.EQ: exp.EQ,
    Op.NE: exp.NEQ,
    Op.LT: exp.LT,
    Op.LE: exp.LTE,
    Op.GT: exp.GT,
    Op.GE: exp.GTE,
}
_FIXED_UNITS = frozenset({"MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK"})
_FIXED_FUNCTIONS = frozenset(f"TO_{unit}S" for unit in _FIXED_UNITS)
_NORMALIZED = "NORMALIZED_INTERVAL"


class Unsolvable(Exception):
    """It is unknown when the comparison changes."""


def has_now(expression: Expression) -> bool:
    return isinstance(expression, Now) or any(has_now(part) for part in children(expression))


class Equation:
    """A comparison as `tree`; `parts` are the expressions in its places.

    Times with a zone are treated as times in UTC, which have the same words.
    """

    def __init__(self, comparison: Expression) -> None:
        self.parts: list[Expression] = []
        self.tree = without_parentheses(self._tree(comparison))

    def _tree(self, expression: Expression) -> exp.Expression:
        match expression:
            case Now():
                return exp.column(_NOW)
            case Foreign(type=type) if type == INTERVAL or has_now(expression):
                return self._expanded(expression)
            case Cast(arg=Literal(value=str() as text, type=literal), type=type) if (literal, type) == (
                TEXT,
                INTERVAL,
            ):
                return exp.cast(exp.Literal.string(text), "INTERVAL", dialect="duckdb")
            case Cast(arg=arg, type=type) if type == TIMESTAMPTZ and arg.type == TIMESTAMP:
                return self._tree(arg)
            case _ if not has_now(expression):
                return self._place(expression)
            case Cast(arg=arg, type=type, lenient=False):
                return exp.cast(self._tree(arg), _duckdb(type), dialect="duckdb")
            case Call(op=op, args=(left, right)) if op in _NODES:
                return _NODES[op](this=_enclosed(self._tree(left)), expression=_enclosed(self._tree(right)))
        raise Unsolvable

    def _expanded(self, expression: Foreign) -> exp.Expression:
        """DuckDB's expression, with trees in its places."""
        text = re.sub(r"\{(\d+)\}", rf"{_ARGUMENT}\1", expression.template)
        trees = [self._tree(arg) for arg in expression.args]

        def argument(node: exp.Expression) -> exp.Expression:
            if isinstance(node, exp.Column) and node.name.startswith(_ARGUMENT):
                return _enclosed(trees[int(node.name.removeprefix(_ARGUMENT))].copy())
            return node

        return _plain(exp.paren(sqlglot.parse_one(text, read="duckdb").transform(argument)))

    def _place(self, expression: Expression) -> exp.Expression:
        if expression.type == TIMESTAMPTZ:
            expression = Cast(expression, TIMESTAMP)  # type: ignore[arg-type]
        self.parts.append(expression)
        return exp.column(f"{_PART}{len(self.parts) - 1}")

    def type(self, tree: exp.Expression) -> Type:
        """The type of a part of the tree."""
        text, parts = self._template(tree)
        try:
            return type_of(text, tuple(part.type for part in parts))
        except PlannerError as error:
            raise Unsolvable from error

    def value(self, tree: exp.Expression) -> Expression:
        """The expression of a tree without the time in it, in its own type."""
        return self.expression(tree, self.type(tree))

    def expression(self, tree: exp.Expression, type: Type) -> Expression:
        """The expression of a tree without the time in it, cast to `type`."""
        text, parts = self._template(tree)
        if text == "{0}" and parts[0].type == type:
            return parts[0]
        if text == "{0}":
            return Cast(parts[0], type)  # type: ignore[arg-type]
        return Foreign(text, tuple(parts), type)  # type: ignore[arg-type]

    def _template(self, tree: exp.Expression) -> tuple[str, list[Expression]]:
        """The tree as a template, and the expressions in its places."""
        names = dict.fromkeys(column.name for column in tree.find_all(exp.Column))
        numbers = {name: str(number) for number, name in enumerate(names)}
        text = tree.sql("duckdb")
        text = re.sub(rf'"?({_NOW}\b|{_PART}\d+)"?', lambda place: f"{{{numbers[place[1]]}}}", text)
        parts = [Now() if name == _NOW else self.parts[int(name.removeprefix(_PART))] for name in names]
        return text, parts

    def number(self, tree: exp.Expression) -> float | None:
        """The number that a tree is, or None."""
        place = self.parts[int(tree.name.removeprefix(_PART))] if isinstance(tree, exp.Column) else None
        return float(place.value) if isinstance(place, Literal) and place.type.is_numeric else None  # type: ignore

    def is_date(self, tree: exp.Expression) -> bool:
        return self.type(tree) == DATE

    def months(self, interval: exp.Expression) -> int | None:
        """The months in an interval; None if it is not a constant."""
        if isinstance(interval, exp.Column):
            place = self.parts[int(interval.name.removeprefix(_PART))]
            is_constant = isinstance(place, Literal) and place.type == INTERVAL
            return interval_of(place.value).months if is_constant else None  # type: ignore[union-attr]
        if any(interval.find_all(exp.Column)):
            return None
        text = interval.sql("duckdb")
        known, months = constant(f"12 * date_part('year', {text}) + date_part('month', {text})")
        return int(months) if known and isinstance(months, int) else None

    def is_fixed(self, interval: exp.Expression) -> bool:
        """Whether an interval always has the same length: it has no months, whose lengths differ."""
        places = [self.parts[int(c.name.removeprefix(_PART))] for c in interval.find_all(exp.Column)]
        if not places:
            return self.months(interval) == 0
        functions = (node for node in interval.find_all(exp.Func) if not isinstance(node, exp.Interval))
        return (
            all(_has_no_months(place) for place in places)
            and all(_unit(node) in _FIXED_UNITS for node in interval.find_all(exp.Interval))
            and all(node.name.upper() in _FIXED_FUNCTIONS for node in functions)
        )


def is_comparison(expression: Expression) -> bool:
    """Whether the expression compares and may be solved; a DuckDB function may turn out not to."""
    return isinstance(expression, Foreign) or (isinstance(expression, Call) and expression.op in COMPARISONS)


def is_now(tree: exp.Expression) -> bool:
    return isinstance(tree, exp.Column) and tree.name == _NOW


def mentions_now(tree: exp.Expression) -> bool:
    return any(is_now(column) for column in tree.find_all(exp.Column))


def without_parentheses(tree: exp.Expression) -> exp.Expression:
    """The tree without parentheses around it."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _has_no_months(place: Expression) -> bool:
    """Whether an interval's operand is a number, or an interval literal without months."""
    if place.type != INTERVAL:
        return True
    return isinstance(place, Literal) and interval_of(place.value).months == 0


def _unit(interval: exp.Expression) -> str:
    return interval.text("unit").upper().removesuffix("S")


def _plain(tree: exp.Expression) -> exp.Expression:
    """The tree without parts that make no difference: UTC as a zone, and the form in which intervals
    compare."""
    for node in reversed(list(tree.walk(bfs=False))):
        if isinstance(node, exp.AtTimeZone) and node.text("zone").upper() == "UTC":
            node.replace(_enclosed(node.this.copy()))
        elif isinstance(node, exp.Cast) and node.is_type("TIMESTAMPTZ"):
            node.replace(exp.cast(node.this.copy(), "TIMESTAMP", dialect="duckdb"))
        elif isinstance(node, exp.Anonymous) and node.name.upper() == _NORMALIZED:
            node.replace(_enclosed(node.expressions[0].copy()))
    return tree


def _enclosed(tree: exp.Expression) -> exp.Expression:
    return tree if isinstance(tree, exp.Column | exp.Cast | exp.Paren) else exp.paren(tree)


def _duckdb(type: Type) -> str:
    return duckdb_type(TIMESTAMP if type == TIMESTAMPTZ else type)
