"""The passes over the relational IR: which rules run, and in which order.

A rule takes an operator and returns an equivalent one; it stands in a module of its own, whose first lines
show what it does. The passes run one after the other, each over the whole program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from planner.ir import Relational, RelationalProgram
from planner.ir.column_numbers import Numbers
from planner.ir.rewrite import bottom_up
from planner.passes.constant_rows import inline_constants
from planner.passes.decorrelation import decorrelate
from planner.passes.distinct_rows import drop_distinct
from planner.passes.inline import inline_definitions
from planner.passes.no_rows import remove_empty
from planner.passes.outer_joins import simplify_outer_joins
from planner.passes.projections import merge_projections
from planner.passes.prune import prune_columns
from planner.passes.pushdown import push_filters
from planner.passes.pushdown.into_recursion import push_into_recursion
from planner.passes.row_numbers import keep_first_places
from planner.passes.semijoins import sink_semijoins
from planner.passes.simplify import simplify_expressions
from planner.passes.temporal import solve_times


class Pass(NamedTuple):
    """A name, and the rewriting of a program. Lowering takes no program without those that are needed."""

    name: str
    rewrite: Callable[[RelationalProgram, Numbers], RelationalProgram]
    is_needed: bool = False


def _alone(rewrite: Callable[[RelationalProgram], RelationalProgram]) -> Callable[..., RelationalProgram]:
    """A rewriting that needs no new columns."""
    return lambda program, numbers: rewrite(program)


def _whole(rule: Callable[[Relational], Relational]) -> Callable[..., RelationalProgram]:
    """The rule over each definition and the root."""
    return lambda program, numbers: program.mapped(rule)


def _everywhere(*rules: Callable[[Relational], Relational]) -> Callable[..., RelationalProgram]:
    """The rules over every operator, inputs first."""
    return _whole(lambda operator: bottom_up(operator, *rules))


_CONSTANTS = Pass("constants", _whole(inline_constants), True)
_DEFINITIONS = Pass("definitions", inline_definitions, True)
_SIMPLER = Pass("simplification", _everywhere(simplify_expressions, remove_empty, drop_distinct))
_FILTERS = Pass("filters", _whole(push_filters))
_COLUMNS = Pass("columns", _alone(prune_columns))

PASSES = (
    _CONSTANTS,
    Pass("decorrelation", decorrelate, True),
    _DEFINITIONS,
    _CONSTANTS,
    _SIMPLER,
    _FILTERS,
    _DEFINITIONS,
    Pass("outer joins", _whole(simplify_outer_joins)),
    Pass("semijoins", _everywhere(sink_semijoins)),
    _SIMPLER,
    _FILTERS,
    Pass("filters into recursions", _alone(push_into_recursion)),
    _FILTERS,
    _SIMPLER,
    _COLUMNS,
    Pass("first places", _everywhere(keep_first_places)),
    _COLUMNS,
    Pass("projections", _everywhere(merge_projections)),
    Pass("moments", _whole(solve_times), True),
)
"""Filters are pushed again and again: the first time makes some contexts unnecessary, and with them
definitions, which no filter passes."""


def optimize(program: RelationalProgram, numbers: Numbers) -> RelationalProgram:
    """The program ready for lowering: without subqueries, with filters low and no unneeded columns."""
    for each in PASSES:
        program = each.rewrite(program, numbers)
    return program
