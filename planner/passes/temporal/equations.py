"""Comparisons with the time as trees: what has the time in it taken apart, the rest as places.

ts > now() - INTERVAL '1 hour'    →    __part_0 > __now - INTERVAL '1 hour'
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp

from engine.expressions import Call, Cast, Foreign, Op
from engine.schema import DATE, TIMESTAMP, Type
from planner.errors import PlannerError, UnsupportedType
from planner.ir import Expression, Now, children
from planner.reference import constant, type_of
from planner.scalars import COMPARISONS
from planner.types import duckdb_type

_NOW = "__now"
_PART = "__part_"
_NODES: dict[Op, type[exp.Expression]] = {
    Op.ADD: exp.Add,
    Op.SUB: exp.Sub,
    Op.EQ: exp.EQ,
    Op.NE: exp.NEQ,
    Op.LT: exp.LT,
    Op.LE: exp.LTE,
    Op.GT: exp.GT,
    Op.GE: exp.GTE,
}


class Unsolvable(Exception):
    """There is no telling when the comparison changes."""


def has_now(expression: Expression) -> bool:
    return isinstance(expression, Now) or any(has_now(part) for part in children(expression))


class Equation:
    """A comparison as `tree`; `parts` are the expressions that its places stand for."""

    def __init__(self, comparison: Expression) -> None:
        self.parts: list[Expression] = []
        self.tree = bare(self._tree(comparison))

    def _tree(self, expression: Expression) -> exp.Expression:
        if not has_now(expression):
            return self._place(expression)
        match expression:
            case Now():
                return exp.column(_NOW)
            case Cast(arg=arg, type=type, lenient=False):
                return exp.cast(self._tree(arg), duckdb_type(type), dialect="duckdb")
            case Call(op=op, args=(left, right)) if op in _NODES:
                return _NODES[op](this=self._operand(left), expression=self._operand(right))
            case Foreign(template=template, args=args):
                tree = sqlglot.parse_one(re.sub(r"\{(\d+)\}", r"__arg_\1", template), read="duckdb")
                trees = [self._tree(arg) for arg in args]
                return tree.transform(lambda node: _argument(node, trees))
        raise Unsolvable

    def _operand(self, expression: Expression) -> exp.Expression:
        return exp.paren(self._tree(expression))

    def _place(self, expression: Expression) -> exp.Expression:
        self.parts.append(expression)
        return exp.column(f"{_PART}{len(self.parts) - 1}")

    def type(self, tree: exp.Expression) -> Type | None:
        """The type of a part of the tree; None for an interval."""
        text, parts = self._template(tree)
        try:
            types = tuple(TIMESTAMP if isinstance(part, Now) else part.type for part in parts)
            return type_of(text, types)
        except UnsupportedType:
            return None
        except PlannerError as error:
            raise Unsolvable from error

    def value(self, tree: exp.Expression) -> Expression:
        """What a tree without the time in it stands for, of its own type."""
        type = self.type(tree)
        if type is None:
            raise Unsolvable
        return self.expression(tree, type)

    def expression(self, tree: exp.Expression, type: Type) -> Expression:
        """What a tree without the time in it stands for."""
        text, parts = self._template(tree)
        if text == "{0}" and parts[0].type == type:
            return parts[0]
        if text == "{0}":
            return Cast(parts[0], type)  # type: ignore[arg-type]
        return Foreign(text, tuple(parts), type)  # type: ignore[arg-type]

    def _template(self, tree: exp.Expression) -> tuple[str, list[Expression]]:
        """The tree as a template, and what its places stand for."""
        names = dict.fromkeys(column.name for column in tree.find_all(exp.Column))
        numbers = {name: str(number) for number, name in enumerate(names)}
        text = tree.sql("duckdb")
        text = re.sub(rf'"?({_NOW}\b|{_PART}\d+)"?', lambda place: f"{{{numbers[place[1]]}}}", text)
        parts = [Now() if name == _NOW else self.parts[int(name.removeprefix(_PART))] for name in names]
        return text, parts

    def is_date(self, tree: exp.Expression) -> bool:
        return self.type(tree) == DATE


def is_comparison(expression: Expression) -> bool:
    """Whether it compares, and may be solved; a function of DuckDB's may turn out not to."""
    return isinstance(expression, Foreign) or (isinstance(expression, Call) and expression.op in COMPARISONS)


def is_now(tree: exp.Expression) -> bool:
    return isinstance(tree, exp.Column) and tree.name == _NOW


def mentions_now(tree: exp.Expression) -> bool:
    return any(is_now(column) for column in tree.find_all(exp.Column))


def bare(tree: exp.Expression) -> exp.Expression:
    """The tree without parentheses around it."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def is_fixed(interval: exp.Expression) -> bool:
    """Whether an interval is always the same length: without months, whose lengths differ."""
    if not any(interval.find_all(exp.Column)):
        text = interval.sql("duckdb")
        known, value = constant(f"12 * date_part('year', {text}) + date_part('month', {text})")
        return known and value == 0
    units = [node.text("unit").upper().removesuffix("S") for node in interval.find_all(exp.Interval)]
    return bool(units) and not {"MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY", ""}.intersection(units)


def _argument(node: exp.Expression, trees: list[exp.Expression]) -> exp.Expression:
    if isinstance(node, exp.Column) and node.name.startswith("__arg_"):
        tree = trees[int(node.name.removeprefix("__arg_"))].copy()
        return tree if isinstance(tree, exp.Column | exp.Cast) else exp.paren(tree)
    return node
