"""EXPLAIN: each stage of a plan in each format.

`logical` is the query as bound, `optimized` the result of the passes, `dataflow` the engine's plan, and
`supersteps` its execution on Spark. `analyze` shows the running operators with their figures, and `cost`
(`planner.explain.cost_report`) what those of a view would cost that is not there. Steps are numbered in the
order of the walk, inputs first; a shared part is shown once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.runtime.observation import Observed
from planner.errors import InvalidQuery
from planner.explain.analyze import running_listing
from planner.explain.engine_plan import dataflow_listing
from planner.explain.listing import Listing
from planner.explain.listing_formats import FORMATS
from planner.explain.relational import relational_listing
from planner.explain.superstep_listing import supersteps_listing
from planner.lower.planned_query import PlannedQuery

STAGES = ("logical", "optimized", "dataflow", "supersteps")


def explain(query: PlannedQuery, stage: str = "optimized", format: str = "text") -> str:
    """The plan of a query at one stage. Raises InvalidQuery for an unknown stage or format."""
    if stage not in STAGES:
        raise InvalidQuery(f"there is no stage {stage!r}", f"stages are {', '.join(STAGES)}")
    render = _format(format)
    if stage == "dataflow":
        return render(dataflow_listing(query.plan, query.spans))
    if stage == "supersteps":
        return render(supersteps_listing(query.plan))
    return render(relational_listing(stage, query.logical if stage == "logical" else query.optimized))


def analyze(query: PlannedQuery, operators: Sequence[Observed], format: str = "text") -> str:
    """The running operators, with their figures, of a view of the query. Raises InvalidQuery
    as `explain` does."""
    return _format(format)(running_listing(query.plan, operators, query.spans))


def _format(name: str) -> Callable[[Listing], str]:
    if name not in FORMATS:
        raise InvalidQuery(f"there is no format {name!r}", f"formats are {', '.join(FORMATS)}")
    return FORMATS[name]
