"""A program in the form in which its rows are explained.

Subqueries are joins and filters stand low, as in a program that is maintained. But the time is that of one
epoch, and sources have one more column: the place of each row among the rows of its relation, by which it can
be named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from engine.plan.expressions import Literal
from engine.plan.nodes import Source
from engine.schema import BIGINT, Column, Schema
from planner.errors import Unsupported
from planner.ir import Expression, Now, Relational, RelationalProgram, TableScan, subqueries
from planner.ir.column_numbers import Numbers
from planner.ir.rewrite import bottom_up, map_expressions
from planner.passes.constant_rows import inline_constants
from planner.passes.decorrelation import decorrelate
from planner.passes.distinct_rows import drop_distinct
from planner.passes.inline import inline_definitions
from planner.passes.no_rows import remove_empty
from planner.passes.outer_joins import simplify_outer_joins
from planner.passes.pushdown import push_filters
from planner.passes.pushdown.into_recursion import push_into_recursion
from planner.passes.simplify import simplify_expressions

PLACE = "\0place"
"""The last column of a source: the place of a row among the rows of its relation at the epoch."""


def explainable(program: RelationalProgram, now: datetime) -> tuple[RelationalProgram, Numbers]:
    """The program at an epoch with the time `now`, in UTC; and the numbers for more columns. Raises
    Unsupported for one at every valid time, whose rows have other reasons at each."""
    program.mapped(lambda operator: bottom_up(operator, _at_one_time))
    program = program.mapped(lambda operator: map_expressions(operator, lambda e: _at(e, now)))
    numbers = Numbers.after(max(_numbers(program), default=0))
    program = program.mapped(inline_constants)
    program = decorrelate(program, numbers)
    program = inline_definitions(program, numbers)
    program = program.mapped(inline_constants)
    program = program.mapped(_simpler)
    program = program.mapped(lambda operator: simplify_outer_joins(push_filters(operator)))
    return program.mapped(lambda operator: bottom_up(operator, _placed)), numbers


def reads_time(program: RelationalProgram) -> bool:
    """Whether the program's rows depend on the time of the epoch."""
    times: list[Expression] = []

    def note(expression: Expression) -> None:
        if isinstance(expression, Now):
            times.append(expression)

    program.mapped(lambda operator: map_expressions(operator, note))
    return bool(times)


def narrowed(operator: Relational, program: RelationalProgram) -> RelationalProgram:
    """A program of the operator, over the definitions of `program`, with filters as low as they go."""
    found = RelationalProgram(program.definitions, push_filters(operator), operator.columns)
    found = push_into_recursion(found).mapped(push_filters)
    return found.mapped(_simpler)


def _at_one_time(operator: Relational) -> Relational:
    if isinstance(operator, TableScan) and operator.plan.free:
        raise Unsupported(
            f"an explanation of rows at every valid time is not supported: {operator.name} has valid time",
            "explain a query of the table FOR VALID_TIME AS OF one time",
        )
    return operator


def _placed(operator: Relational) -> Relational:
    if isinstance(operator, TableScan):
        schema = Schema((*operator.plan.schema.columns, Column(PLACE, BIGINT, False)))
        return replace(operator, plan=Source(operator.name, schema))
    return operator


def _simpler(operator: Relational) -> Relational:
    return bottom_up(operator, simplify_expressions, remove_empty, drop_distinct)


def _at(expression: Expression, now: datetime) -> Expression | None:
    return Literal(now, expression.type) if isinstance(expression, Now) else None


def _numbers(program: RelationalProgram) -> Iterator[int]:
    """The numbers of all columns."""
    waiting = [*program.definitions, program.root]
    while waiting:
        operator = waiting.pop()
        yield from operator.ids
        yield from operator.below
        waiting += operator.inputs
        waiting += [found.query for e in operator.expressions for found in subqueries(e)]
