"""The estimate of a view as a JSON document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from engine.costs.view_cost import ViewCost
from planner.explain.cost_report import cost_document
from planner.lower.planned_query import PlannedQuery
from planner.statements.view_budgets import ViewBudget
from service.decoding.parsing import JSON
from service.http.models import BudgetModel
from service.running.view_costs import excesses


class BuildTimeModel(BaseModel):
    """The seconds of building: of a process and the texts that it reads, of the rows of tables, of operators,
    and of the files that are written."""

    process: float
    reading: float
    operators: float
    writing: float


class ChangeCostModel(BaseModel):
    """What a change of one row of a table takes, in rows that operators pass on and in milliseconds: in the
    median, and on a bad day."""

    table: str
    median_rows: float
    bad_rows: float
    median_milliseconds: float
    bad_milliseconds: float


class ReadPart(BaseModel):
    """The part of a table's rows that the estimate read; 1 for all."""

    table: str
    part: float


class DearOperatorModel(BaseModel):
    """The operator that takes the greatest part of the view's time, memory or changes."""

    of: str
    operator: str = Field(description="The operator's `id` in the plan.")
    part: float
    place: str
    cure: str | None = Field(description="What may make it less, if that is known.")


class ViewEstimate(BaseModel):
    """What a view would cost. Nothing is made."""

    at_least: bool = Field(description="Whether the estimate ended early, so that the view costs more.")
    rows: int
    memory_bytes: int = Field(description="What the view alone keeps, in memory until a checkpoint.")
    disk_bytes: int = Field(description="What the view alone has in files after a checkpoint.")
    build_seconds: float
    build: BuildTimeModel
    changes: list[ChangeCostModel]
    shared_with: list[str] = Field(description="Views that keep a part of what this one needs.")
    read: list[ReadPart]
    beginnings: float = Field(description="The part of where recursions begin that was tried; 1 for all.")
    dear: list[DearOperatorModel]
    over_budget: list[str] = Field(description="What the view would need more of than its budget has.")
    plan: dict[str, Any] = Field(description="The operators, as EXPLAIN has them, with their figures.")


def view_estimate(query: PlannedQuery, cost: ViewCost, sql: str, budget: ViewBudget) -> ViewEstimate:
    over = list(excesses(query, cost, sql, budget))
    return ViewEstimate(**cost_document(query, cost, sql), over_budget=over)


def budget_of(model: BudgetModel | None) -> ViewBudget:
    """The budget that a request names."""
    return ViewBudget() if model is None else ViewBudget(**model.model_dump())


_EXAMPLE = {
    "at_least": False,
    "rows": 2,
    "memory_bytes": 224,
    "disk_bytes": 224,
    "build_seconds": 0.000412,
    "build": {"process": 0.0, "reading": 0.000031, "operators": 0.000381, "writing": 0.0},
    "changes": [
        {
            "table": "orders",
            "median_rows": 3.0,
            "bad_rows": 4.0,
            "median_milliseconds": 0.031,
            "bad_milliseconds": 0.034,
        }
    ],
    "shared_with": [],
    "read": [{"table": "orders", "part": 1.0}],
    "beginnings": 1.0,
    "dear": [
        {
            "of": "memory",
            "operator": "o1",
            "part": 0.57,
            "place": "o1, sums arrangement (r1), at line 1, column 18: sum(total)",
            "cure": "every row of the table is kept for a join: a condition on it keeps fewer",
        }
    ],
    "over_budget": [],
    "plan": {"stage": "cost", "nodes": [], "result": "o3"},
}
ESTIMATE_ANSWER: dict[str, Any] = {
    "model": ViewEstimate,
    "description": "What the view would cost, of a dry run.",
    "content": {JSON: {"example": _EXAMPLE}},
}
"""How the OpenAPI document describes the answer to a dry run."""
