"""Settings of planning: how deep a query may nest, how wide it may be, and how long it may take to plan.

`service/settings/settings.py` reads them together with all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.settings.doors import setting


@dataclass(frozen=True)
class PlanningSettings:
    sql_depth: int = setting(
        200, "FRESHET_SQL_DEPTH", "most levels of parentheses, CASE and signs in a text of SQL"
    )
    plan_columns: int = setting(2_000, "FRESHET_PLAN_COLUMNS", "most columns of a query's result")
    plan_relations: int = setting(
        1_000, "FRESHET_PLAN_RELATIONS", "most places at which a query reads a table, a view or a CTE"
    )
    plan_seconds: int = setting(
        20, "FRESHET_PLAN_SECONDS", "most seconds of processor time for planning a query"
    )
    plan_memory: int = setting(
        2 << 30, "FRESHET_PLAN_MEMORY", "most bytes of memory for planning a long text of SQL"
    )
