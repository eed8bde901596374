"""The passes over the relational IR, in order. Each takes a program and gives an equal one."""

from __future__ import annotations

from planner.ir import Program
from planner.numbers import Numbers
from planner.passes.decorrelation import decorrelate
from planner.passes.inline import inline_definitions
from planner.passes.prune import prune_columns
from planner.passes.pushdown import push_filters
from planner.passes.simplify import simplify


def optimize(program: Program, numbers: Numbers) -> Program:
    """The program as it will be lowered: without subqueries, filters low, no column too many."""
    program = decorrelate(program, numbers)
    program = inline_definitions(program, numbers)
    program = simplify(program)
    program = push_filters(program)
    program = simplify(program)
    return prune_columns(program)
