"""SQL to engine plans: `plan_query` over a catalog of `Relation`s; `PlannerError` when it cannot."""

from planner.catalog import Catalog, Relation
from planner.errors import PlannerError
from planner.query import PlannedQuery, plan_query

__all__ = ["Catalog", "PlannedQuery", "PlannerError", "Relation", "plan_query"]
