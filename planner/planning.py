"""From SQL to a planned query: parse, bind, run the passes, lower."""

from __future__ import annotations

import re

from sqlglot import exp

from planner.bind import BoundStatement, bind
from planner.errors import InvalidSyntax, SqlTooDeep, Unsupported
from planner.ir import RelationalProgram
from planner.limits import DEFAULT, PlanningLimits, within
from planner.lower.every_valid_time import at_every_valid_time
from planner.lower.plan_sources import PlanSources
from planner.lower.planned_query import PlannedQuery
from planner.lower.whole_program import lower
from planner.parsing.canonical_text import sql_text
from planner.parsing.parse import parse_query
from planner.passes import optimize
from planner.relation import Catalog
from planner.rewriting.open_pivots import PivotLists, list_query, open_keys, with_values
from planner.spans import spans_of

_PIVOT = re.compile(r"\bPIVOT\b", re.IGNORECASE)


def plan_query(
    sql: str | exp.Expression,
    catalog: Catalog,
    dialect: str = "postgres",
    limits: PlanningLimits = DEFAULT,
    named: bool = False,
    lists: PivotLists = (),
) -> PlannedQuery:
    """Plan a query over the catalog's relations. Raises a PlannerError with the place of the fault, and a
    PlanningLimit for a query that takes more than the limits allow.

    With `named`, columns without a name have PostgreSQL's in its dialect; otherwise their own text. `lists`
    are the values that a PIVOT leaves to the data.
    """
    try:
        with within(limits):
            tree = parse_query(sql, dialect, named=named) if isinstance(sql, str) else sql
            if lists:
                with_values(tree, lists)
            bound = bind(tree, catalog, dialect)
            optimized = _optimized(bound)
            sources = PlanSources(bound.numbers.provenance.found())
            plan, schema = lower(optimized, sources, depth=1 if bound.timed else 0)
            if bound.timed:
                plan = at_every_valid_time(plan, bound.timed)
                schema = plan.schema
            spans = spans_of(sources.parts, tree)
            text = sql_text(tree, copy=tree is sql)
            reads, is_timed = bound.reads, bool(bound.timed)
            return PlannedQuery(plan, schema, text, reads, bound.program, optimized, spans, is_timed)
    except RecursionError:
        raise SqlTooDeep.of() from None
    except UnicodeError:
        raise InvalidSyntax.of_escape() from None


def plan_pivot_lists(
    sql: str, catalog: Catalog, dialect: str, limits: PlanningLimits = DEFAULT
) -> tuple[PlannedQuery, int] | None:
    """Plan the query of the values that a query's PIVOTs leave to the data, as `list_query` has it, and count
    the keys that have such values; None if there are none. Raises a PlannerError."""
    with within(limits):
        keys = list(open_keys(parse_query(sql, dialect)))
        return (plan_query(list_query(keys), catalog, dialect, limits), len(keys)) if keys else None


def may_leave_values(sql: str) -> bool:
    """Whether a query may have a PIVOT that leaves values to the data: without one it has none."""
    return _PIVOT.search(sql) is not None


def _optimized(bound: BoundStatement) -> RelationalProgram:
    """The program after all passes; errors about the time have the place where the query asks for it."""
    try:
        return optimize(bound.program, bound.numbers)
    except Unsupported as error:
        raise error.at(*bound.time_at) from None
