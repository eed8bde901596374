"""EXPLAIN: each stage of a plan in each format.

`logical` is the query as it was bound, `optimized` what the passes made of it, `dataflow` the
engine's plan, `supersteps` how Spark would run it. Steps are numbered by the walk, inputs first;
what is used twice is shown once.
"""

from __future__ import annotations

from engine.plan import Node
from planner.errors import InvalidQuery
from planner.explain.dataflow import dataflow_listing
from planner.explain.formats import FORMATS
from planner.explain.relational import relational_listing
from planner.explain.supersteps import supersteps_listing
from planner.ir import Program

STAGES = ("logical", "optimized", "dataflow", "supersteps")


def explain(logical: Program, optimized: Program, plan: Node, stage: str, format: str) -> str:
    """The text of one stage; InvalidQuery names a stage or format that there is not."""
    if stage not in STAGES:
        raise InvalidQuery(f"there is no stage {stage!r}", f"stages are {', '.join(STAGES)}")
    if format not in FORMATS:
        raise InvalidQuery(f"there is no format {format!r}", f"formats are {', '.join(FORMATS)}")
    if stage == "dataflow":
        return FORMATS[format](dataflow_listing(plan))
    if stage == "supersteps":
        return FORMATS[format](supersteps_listing(plan))
    return FORMATS[format](relational_listing(stage, logical if stage == "logical" else optimized))
