"""The relation page replaces a view's query: built beside the old one, looked at, applied or dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from freshet import Connection
from tests.console.browser import expect

OpenPage = Callable[..., Any]


def test_a_query_is_replaced(open_page: OpenPage, db: Connection, sales: str) -> None:
    """Until it is applied, nothing changes; then the page has the new query, and one epoch the difference."""
    db.create_view(f"{sales}_best", f"SELECT customer FROM {sales}_by WHERE total > 20")
    page = open_page(f"#/relation/{sales}_by")
    page.get_by_role("tab", name="Replace").click()
    form = page.get_by_role("form", name="Another query")
    expect(form.get_by_role("button", name="Build it beside")).to_be_disabled()
    query = f"SELECT customer, count(*) AS orders, 2 * sum(total) AS total FROM {sales} GROUP BY customer"
    form.get_by_label("Another query").fill(f"SELECT custmer FROM {sales}")
    form.get_by_role("button", name="Build it beside").click()
    expect(form.get_by_role("alert")).to_contain_text("customer?")
    form.get_by_label("Another query").fill(query)
    form.get_by_role("button", name="Build it beside").click()
    panel = page.get_by_role("region", name=f"Replacement {sales}_by_new")
    expect(panel.locator(".chip").first).to_have_text("ready")
    panel.get_by_role("button", name="Preview").click()
    expect(panel.locator(".chip.in").last).to_have_text("+2 added")
    panel.get_by_label("Of").select_option(f"{sales}_best")
    expect(panel.locator(".chip.in").last).to_have_text("+1 added")
    expect(panel.get_by_role("gridcell").last).to_have_text("bob")
    before = db.sql(f"SELECT total FROM {sales}_by WHERE customer = 'bob'")
    assert [str(row["total"]) for row in before.dicts()] == ["12.50"]
    panel.get_by_role("button", name="Apply").click()
    panel.get_by_role("button", name="Apply it").click()
    expect(page.locator(".facts")).to_contain_text("2 rows")  # the page is that of the new definition
    page.get_by_role("tab", name="Definition").click()
    expect(page.locator("pre")).to_contain_text("2 * sum(total)")
    assert {row["customer"] for row in db.sql(f"SELECT customer FROM {sales}_best").dicts()} == {"ada", "bob"}
    past = db.sql(f"SELECT total FROM {sales}_by FOR SYSTEM_TIME AS OF {before.epoch} WHERE customer = 'bob'")
    assert [str(row["total"]) for row in past.dicts()] == ["12.50"]


def test_a_replacement_is_dropped_and_the_view_stays(open_page: OpenPage, db: Connection, sales: str) -> None:
    page = open_page(f"#/relation/{sales}_by")
    page.get_by_role("tab", name="Replace").click()
    form = page.get_by_role("form", name="Another query")
    form.get_by_label("Another query").fill(f"SELECT customer, 1 AS orders FROM {sales}")
    form.get_by_label("Name", exact=True).fill(f"{sales}_other")
    form.get_by_role("button", name="Build it beside").click()
    panel = page.get_by_role("region", name=f"Replacement {sales}_other")
    expect(panel.locator(".chip").first).to_have_text("ready")
    page.evaluate("name => { location.hash = `#/relation/${name}` }", sales)
    expect(page.get_by_role("tab", name="Replace")).to_have_count(0)
    page.evaluate("name => { location.hash = `#/relation/${name}_by` }", sales)
    page.get_by_role("tab", name="Replace").click()
    panel.get_by_role("button", name="Drop").click()
    expect(panel).to_have_count(0)
    assert db.replacements() == []
    assert len(db.sql(f"SELECT * FROM {sales}_by").dicts()) == 2
