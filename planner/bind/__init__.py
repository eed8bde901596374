"""Binding: from sqlglot's tree to the relational IR, with every name resolved and every expression typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from planner.bind.query_binder import bind_query
from planner.bind.session import Environment, Session, Taken
from planner.bind.stars import SelectList
from planner.ir import RelationalProgram
from planner.ir.column_numbers import Numbers
from planner.positions import Place, refuse
from planner.relation import Catalog, Relation
from planner.rewriting.closed_windows import with_delays
from planner.rewriting.window_clauses import with_times


@dataclass(frozen=True)
class BoundStatement:
    """A bound statement: its program, the relations that it names, the next free column number, the place
    where it first asks for the time, and its select lists, merged columns and timed relations as in the
    session."""

    program: RelationalProgram
    reads: frozenset[str]
    numbers: Numbers
    time_at: Place
    lists: Mapping[int, SelectList]
    merged: Mapping[int, tuple[int, int]]
    timed: Mapping[str, Relation]


def bind(
    tree: exp.Expression, catalog: Catalog, dialect: str, taken: dict[int, Taken] | None = None
) -> BoundStatement:
    """The program of a query. Raises a PlannerError with the place of the fault. `taken` gets what its parts
    are, by the places that are noted in them."""
    if not isinstance(tree, exp.Query | exp.Values | exp.Pivot):
        refuse(tree, f"{tree.key.upper()} is not a query")
    with_times(tree, catalog)
    with_delays(tree, lambda name: catalog[name].watermark if name in catalog else None)
    session = Session(catalog, dialect, taken)
    bound = bind_query(session, tree, Environment())
    program = RelationalProgram(tuple(session.definitions), bound.operator, bound.columns)
    found = session.time_at, session.lists, session.merged, session.timed
    return BoundStatement(program, frozenset(session.reads), session, *found)
