"""Views planned one over the other, and the refusals that are no fault."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from engine.plan.nodes import Source
from planner import PlannedQuery, plan_query
from planner.errors import PlannerError, Unsupported
from planner.relation import Relation
from tests.property.called import inlined
from tests.property.schemas import Table
from tests.property.views import View

DOCUMENT = Path(__file__).parents[2] / "docs" / "sql.md"
_LISTED = re.compile(r"^\| `SELECT [^`]+` \| `([^`]+)` \|$", re.MULTILINE)


class Catalog:
    """Tables, and the views planned so far; `planned` has what came of these."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self.relations = {
            table.name: Relation(table.name, table.schema, Source(table.name, table.schema), table.key)
            for table in tables
        }
        self.planned: dict[str, PlannedQuery] = {}

    def add(self, view: View) -> PlannedQuery:
        """The view's plan; others may read it from now on. Raises PlannerError."""
        planned = plan_query(inlined(view.sql()), self.relations, view.dialect)
        self.planned[view.name] = planned
        self.relations[view.name] = Relation(view.name, planned.schema, planned.plan, is_view=True)
        return planned

    def refuses(self, view: View) -> str | None:
        """The construct for which the view may be refused, if it is; other failures are left to the check."""
        try:
            self.add(view)
        except PlannerError as error:
            return refusal(error)
        except Exception:  # the check will meet it again, and say where it is from
            return None
        return None


def refusal(error: PlannerError) -> str | None:
    """The construct, if the documentation says that it is refused; None if the error is a fault."""
    if "always fails" in error.message:
        return "a constant that always fails"
    if not isinstance(error, Unsupported):
        return None
    if "because its body is a query" in error.message:
        return "an aggregate as argument of a function whose body is a query"
    return next((name for name in _constructs() if name.lower() in error.message.lower()), None)


@cache
def _constructs() -> tuple[str, ...]:
    return tuple(_LISTED.findall(DOCUMENT.read_text()))
