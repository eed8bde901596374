"""Budgets of CREATE VIEW: read with their units, and left out of what is kept of the view."""

from __future__ import annotations

from typing import cast

import pytest

from planner.errors import PlannerError
from planner.statements.show_statements import Explain
from planner.statements.statement_reader import parse_script
from planner.statements.statements import CreateView
from planner.statements.view_budgets import ANY, ViewBudget


def created(head: str, query: str = "SELECT 1 AS n") -> CreateView:
    return cast(CreateView, parse_script(f"CREATE {head} AS {query}")[0])


@pytest.mark.parametrize(
    ("options", "budget"),
    [
        ("budget_memory = '1 GB'", ViewBudget(memory_bytes=1e9)),
        ("budget_memory = 1000", ViewBudget(memory_bytes=1000)),
        ("BUDGET_MEMORY = '1.5kB'", ViewBudget(memory_bytes=1500)),
        ("budget_build = '2 min', budget_change = '1 s'", ViewBudget(None, 120, 1000)),
        ("budget_build = 2.5, budget_change = 2", ViewBudget(None, 2.5, 2)),
    ],
)
def test_a_budget_has_units(options: str, budget: ViewBudget) -> None:
    assert created(f"VIEW v WITH ({options})").budget == budget


@pytest.mark.parametrize(
    "head",
    [
        "VIEW v",
        "OR REPLACE VIEW v (a)",
        "MATERIALIZED VIEW v",
        "VIEW IF NOT EXISTS v",
        "RECURSIVE VIEW v (a)",
    ],
)
def test_a_budget_changes_nothing_else(head: str) -> None:
    plain, limited = created(head), created(f"{head} WITH (budget_memory = 1)")
    assert (plain.budget, limited.budget) == (ANY, ViewBudget(1))
    for name in ("name", "column_names", "or_replace", "if_not_exists", "materialized", "recursive"):
        assert getattr(plain, name) == getattr(limited, name)
    assert plain.query.text == limited.query.text


def test_a_query_with_a_name_for_a_budget_is_no_budget() -> None:
    found = created("VIEW v", "WITH budget AS (SELECT 1 AS n) SELECT n FROM budget")
    assert found.budget == ANY


def test_an_estimate_takes_a_view_with_a_budget() -> None:
    (found,) = parse_script("EXPLAIN COST CREATE VIEW v WITH (budget_memory = 1) AS SELECT 1 AS n")
    assert isinstance(found, Explain)
    assert found.stage == "cost"
    assert found.query is not None
    assert found.query.text == "SELECT 1 AS n"


def test_other_options_are_refused_as_before() -> None:
    with pytest.raises(PlannerError, match="is not supported"):
        created("VIEW v WITH (security_barrier = true)")


def test_the_lesser_of_two_budgets_holds() -> None:
    assert ViewBudget(10, None, 3).within(ViewBudget(5, 7, None)) == ViewBudget(5, 7, 3)
    assert not ANY.within(ANY).is_limited
