"""From SQL to a planned query: parse, bind, run the passes, lower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from engine.plan.nodes import Node
from engine.runtime.observation import Observed
from engine.schema import Schema
from planner.bind import BoundStatement, bind
from planner.errors import InvalidSyntax, SqlTooDeep, Unsupported
from planner.explain import analyze, explain
from planner.ir import RelationalProgram
from planner.limits import DEFAULT, PlanningLimits, within
from planner.lower.plan_sources import PlanSources
from planner.lower.whole_program import lower
from planner.parsing.canonical_text import sql_text
from planner.parsing.parse import parse_query
from planner.passes import optimize
from planner.relation import Catalog
from planner.spans import Spans, spans_of


@dataclass(frozen=True)
class PlannedQuery:
    """The result of planning a query.

    It has the engine plan, the schema of its rows under the user's names, its canonical text, the names of
    the tables and views that it refers to directly, the program before and after the passes, and the parts of
    the user's text that the plan's nodes come from.
    """

    plan: Node
    schema: Schema
    sql: str
    reads: frozenset[str]
    logical: RelationalProgram
    optimized: RelationalProgram
    spans: Spans = field(default_factory=dict, compare=False)

    def explain(self, stage: str = "optimized", format: str = "text") -> str:
        """The plan at `stage` (logical, optimized, dataflow, supersteps) as text, json or mermaid."""
        return explain(self.logical, self.optimized, self.plan, stage, format, self.spans)

    def analyze(self, operators: Sequence[Observed], format: str = "text") -> str:
        """The running operators with their figures; `operators` are those of the view with this plan."""
        return analyze(self.plan, operators, format, self.spans)


def plan_query(
    sql: str | exp.Expression,
    catalog: Catalog,
    dialect: str = "postgres",
    limits: PlanningLimits = DEFAULT,
    named: bool = False,
) -> PlannedQuery:
    """Plan a query over the catalog's relations. Raises a PlannerError with the place of the fault, and a
    PlanningLimit for a query that takes more than the limits allow.

    With `named`, columns without a name have PostgreSQL's in its dialect; otherwise their own text.
    """
    try:
        with within(limits):
            tree = parse_query(sql, dialect, named=named) if isinstance(sql, str) else sql
            bound = bind(tree, catalog, dialect)
            optimized = _optimized(bound)
            sources = PlanSources(bound.numbers.provenance.found())
            plan, schema = lower(optimized, sources)
            spans = spans_of(sources.parts, tree)
            text = sql_text(tree, copy=tree is sql)
            return PlannedQuery(plan, schema, text, bound.reads, bound.program, optimized, spans)
    except RecursionError:
        raise SqlTooDeep.of() from None
    except UnicodeError:
        raise InvalidSyntax.of_escape() from None


def _optimized(bound: BoundStatement) -> RelationalProgram:
    """The program after all passes; errors about the time have the place where the query asks for it."""
    try:
        return optimize(bound.program, bound.numbers)
    except Unsupported as error:
        raise error.at(*bound.time_at) from None
