"""Branches in the console: made, gone to, changed, compared, merged and dropped, all without leaving main."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from freshet import Connection
from tests.console.browser import AXE, expect
from tests.console.grids import cell, run_sql, write_sql

OpenPage = Callable[..., Any]


@pytest.fixture
def branch(db: Connection, name: str) -> Iterator[str]:
    """The name of a branch that a test makes."""
    yield f"{name}_b"
    if f"{name}_b" in [one.name for one in db.branches()]:
        db.drop_branch(f"{name}_b")


def make(page: Any, branch: str, live: bool = False) -> Any:
    """The panel of a branch that the page makes."""
    page.get_by_label("Name", exact=True).fill(branch)
    page.get_by_label("live", exact=True).set_checked(live)
    page.get_by_role("button", name="Make it", exact=True).click()
    panel = page.get_by_role("region", name=f"Branch {branch}", exact=True)
    expect(panel).to_contain_text("live" if live else "pinned")
    return panel


def go(page: Any, place: str) -> None:
    page.evaluate("place => { location.hash = place }", place)


def customers(db: Connection, sales: str) -> set[str]:
    return {row["customer"] for row in db.sql(f"SELECT customer FROM {sales}").dicts()}


def test_a_branch_is_made_changed_compared_and_merged(
    open_page: OpenPage, db: Connection, sales: str, branch: str
) -> None:
    page = open_page("#/branches")
    panel = make(page, branch)
    panel.get_by_role("button", name="Go to it").click()
    status = page.get_by_role("contentinfo", name="Status")
    expect(status).to_contain_text(f"branch {branch}")

    go(page, f"#/relation/{sales}")
    expect(page.locator(".facts")).to_contain_text("2 rows")
    page.get_by_role("button", name="Insert a row").click()
    for place, value in enumerate(("3", "eve", "7")):
        page.locator(f"#value-{place}").fill(value)
    page.get_by_role("button", name="Insert", exact=True).click()
    expect(page.locator(".facts")).to_contain_text("3 rows")
    expect(page.locator(".state")).to_have_text("live")
    assert customers(db, sales) == {"ada", "bob"}
    assert customers(db.on_branch(branch), sales) == {"ada", "bob", "eve"}
    expect(page.get_by_role("button", name="Drop")).to_have_count(0)
    go(page, f"#/relation/{sales}_by")
    expect(page.locator(".facts")).to_contain_text("3 rows")

    go(page, "#/query")
    run_sql(page, f"UPDATE {sales} SET total = 31 WHERE id = 1")
    expect(page.locator(".results")).to_contain_text("UPDATE")
    run_sql(page, f"SELECT sum(total) AS s FROM {sales}")
    expect(cell(page, 0, 0)).to_have_text("50.50")
    run_sql(page, f"DROP TABLE {sales}")
    expect(page.get_by_role("alert")).to_contain_text("branch")

    go(page, "#/branches")
    panel.get_by_role("button", name="Compare").click()
    different = panel.get_by_role("list", name="What differs")
    expect(different).to_contain_text(f"{sales}_by 3")
    different.get_by_role("button", name=f"{sales}_by").click()
    expect(panel.locator(".chip.in")).to_have_text("+2 added")
    expect(panel.locator(".chip.out")).to_have_text("−1 removed")
    panel.get_by_role("button", name="Merge", exact=True).click()
    panel.get_by_role("button", name="Merge into main").click()
    expect(panel.get_by_role("form").get_by_role("status")).to_contain_text("2 changes are epoch")
    assert customers(db, sales) == {"ada", "bob", "eve"}
    assert str(db.sql(f"SELECT total FROM {sales} WHERE id = 1").dicts()[0]["total"]) == "31.00"

    status.get_by_role("button", name="Back to main").click()
    expect(status).not_to_contain_text(branch)
    panel.get_by_role("button", name="Drop").click()
    panel.get_by_role("button", name=f"Drop {branch}").click()
    expect(panel).to_have_count(0)


def test_a_branch_has_views_of_its_own(open_page: OpenPage, db: Connection, sales: str, branch: str) -> None:
    db.create_branch(branch)
    page = open_page("#/branches")
    panel = page.get_by_role("region", name=f"Branch {branch}", exact=True)
    panel.get_by_role("button", name="Go to it").click()
    go(page, "#/query")
    write_sql(page, f"SELECT customer FROM {sales} WHERE total > 20")
    page.get_by_role("button", name="Make this a view").click()
    expect(page.get_by_role("region", name="What it would cost").locator("dd").first).to_have_text("1")
    page.get_by_label("Name", exact=True).fill(f"{sales}_own")
    page.get_by_role("button", name="Make the view").click()
    expect(page.get_by_role("heading", level=1, name=f"{sales}_own")).to_be_visible()
    expect(cell(page, 0, 0)).to_have_text("ada")
    page.get_by_role("link", name="Dataflow", exact=True).last.click()
    page.wait_for_selector(".svelte-flow__node b")
    assert f"{sales}_own" not in [view.name for view in db.views()]
    go(page, "#/branches")
    panel.get_by_role("button", name="Merge", exact=True).click()
    panel.get_by_role("button", name="Merge into main").click()
    expect(panel.get_by_role("form").get_by_role("status")).to_contain_text(f"main has {sales}_own too")
    page.get_by_role("contentinfo", name="Status").get_by_role("button", name="Back to main").click()
    go(page, f"#/relation/{sales}_own")
    expect(cell(page, 0, 0)).to_have_text("ada")


def test_rows_that_both_have_changed_are_named(
    open_page: OpenPage, db: Connection, sales: str, branch: str
) -> None:
    db.create_branch(branch)
    table = {"main": db.table(sales), "branch": db.on_branch(branch).table(sales)}
    for place, total in (("main", "1.00"), ("branch", "2.00")):
        table[place].upsert({"id": 1, "customer": "ada", "total": total})
    page = open_page("#/branches")
    panel = page.get_by_role("region", name=f"Branch {branch}", exact=True)
    panel.get_by_role("button", name="Merge", exact=True).click()
    panel.get_by_role("button", name="Merge into main").click()
    expect(panel.get_by_role("alert")).to_contain_text(f"{sales} id = 1")
    panel.get_by_label(f"take the rows of {branch}").check()
    panel.get_by_role("button", name="Merge into main").click()
    merged = panel.get_by_role("form").get_by_role("status")
    expect(merged).to_contain_text("1 row was changed by both")
    rows = db.sql(f"SELECT total FROM {sales} WHERE id = 1").dicts()
    assert [str(row["total"]) for row in rows] == ["2.00"]


def test_a_branch_may_have_any_name(open_page: OpenPage, db: Connection, sales: str) -> None:
    name = f'{sales} Ü "if"/<b>?'
    quoted = '"' + name.replace('"', '""') + '"'
    page = open_page("#/branches")
    page.get_by_label("Name", exact=True).fill(quoted)
    page.get_by_role("button", name="Make it", exact=True).click()
    panel = page.get_by_role("region", name=f"Branch {name}", exact=True)
    panel.get_by_role("button", name="Go to it").click()
    db.on_branch(quoted).table(sales).insert({"id": 3, "customer": "eve", "total": "1.00"})
    go(page, f"#/relation/{sales}")
    expect(page.locator(".facts")).to_contain_text("3 rows")
    go(page, "#/query")
    run_sql(page, f"SELECT count(*) AS n FROM {sales}")
    expect(cell(page, 0, 0)).to_have_text("3")
    go(page, "#/branches")
    panel.get_by_role("button", name="Compare").click()
    expect(panel.get_by_role("list", name="What differs")).to_contain_text(f"{sales}_by 1")
    panel.get_by_role("button", name="Merge", exact=True).click()
    panel.get_by_role("button", name="Merge into main").click()
    expect(panel.get_by_role("form").get_by_role("status")).to_contain_text("1 change is epoch")
    panel.get_by_role("button", name="Drop", exact=True).click()
    panel.get_by_role("button", name=f"Drop {name}").click()
    expect(panel).to_have_count(0)
    assert customers(db, sales) == {"ada", "bob", "eve"}


def test_the_tab_stays_on_its_branch_until_that_is_gone(
    open_page: OpenPage, db: Connection, sales: str, branch: str
) -> None:
    """A live branch shows what happens to main too; its past and its reasons are its own."""
    page = open_page("#/branches")
    make(page, branch, live=True).get_by_role("button", name="Go to it").click()
    db.on_branch(branch).table(sales).insert({"id": 5, "customer": "eve", "total": "5.00"})
    db.table(sales).insert({"id": 6, "customer": "cy", "total": "6.00"})
    go(page, f"#/relation/{sales}_by")
    page.reload()
    status = page.get_by_role("contentinfo", name="Status")
    expect(status).to_contain_text(f"branch {branch}")
    expect(page.locator(".facts")).to_contain_text("4 rows")
    if AXE.exists():
        page.evaluate(AXE.read_text() + "; undefined")
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:150]) for one in found] == []
    page.get_by_role("searchbox").last.fill("eve")
    expect(page.locator("[data-column='0']")).to_have_count(1)
    cell(page, 0, 0).dblclick()
    row = page.get_by_role("dialog", name="Row")
    row.get_by_role("button", name="Why is this row here?").click()
    expect(row.get_by_role("region", name="Why the row is here")).to_contain_text(
        "id 5 customer eve total 5.00"
    )
    expect(row.get_by_role("region", name="History of the row")).to_contain_text("came")
    page.keyboard.press("Escape")
    db.drop_branch(branch)
    expect(status).not_to_contain_text(branch)
    expect(page.get_by_text(f"Branch {branch} is gone: this is main")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("3 rows")
