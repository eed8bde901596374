"""From SQL to engine plans: `plan_query` over a catalog of `Relation`s. Raises a `PlannerError` if it cannot
plan."""

from planner.errors import PlannerError
from planner.lower.planned_query import PlannedQuery
from planner.planning import plan_query
from planner.relation import Catalog, Relation

__all__ = ["Catalog", "PlannedQuery", "PlannerError", "Relation", "plan_query"]
