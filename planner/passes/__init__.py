"""The passes over the relational IR, in order. Each takes a program and returns an equivalent one."""

from __future__ import annotations

from planner.ir import RelationalProgram
from planner.ir.column_numbers import Numbers
from planner.passes.constant_rows import inline_constants
from planner.passes.decorrelation import decorrelate
from planner.passes.inline import inline_definitions
from planner.passes.outer_joins import simplify_outer_joins
from planner.passes.projections import merge_projections
from planner.passes.prune import prune_columns
from planner.passes.pushdown import push_filters
from planner.passes.pushdown.into_recursion import push_into_recursion
from planner.passes.row_numbers import keep_first_places
from planner.passes.semijoins import sink_semijoins
from planner.passes.simplify import simplify
from planner.passes.temporal import solve_times


def optimize(program: RelationalProgram, numbers: Numbers) -> RelationalProgram:
    """The program ready for lowering: without subqueries, with filters low and no unneeded columns.

    Filters are pushed twice: the first time makes some contexts unnecessary, and with them definitions, which
    no filter passes.
    """
    program = decorrelate(inline_constants(program), numbers)
    program = simplify(inline_constants(inline_definitions(program, numbers)))
    program = inline_definitions(push_filters(program), numbers)
    program = sink_semijoins(simplify_outer_joins(program))
    program = push_into_recursion(push_filters(simplify(program)))
    program = simplify(push_filters(program))
    program = prune_columns(keep_first_places(prune_columns(program)))
    return solve_times(merge_projections(program))
