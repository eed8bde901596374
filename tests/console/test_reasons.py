"""The relation page says why a row is there, why another is not, and what has changed one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from freshet import Connection
from tests.console.browser import expect
from tests.console.grids import cell, texts

OpenPage = Callable[..., Any]
LEVELS = 14


@pytest.fixture
def reached(db: Connection, name: str) -> str:
    """`NAME` has what an advisory reaches through `NAME_needs`, where there is a cycle; `NAME_by` counts it.
    Its rows came at one epoch; at the next, one of them went."""
    db.script(
        f"CREATE TABLE {name}_needs (package TEXT, needs TEXT, PRIMARY KEY (package, needs)); "
        f"CREATE TABLE {name}_advisories (package TEXT PRIMARY KEY, severity TEXT); "
        f"CREATE VIEW {name} AS WITH RECURSIVE reached (package, severity) AS ("
        f"SELECT package, severity FROM {name}_advisories "
        f"UNION SELECT d.package, r.severity FROM reached r JOIN {name}_needs d ON d.needs = r.package) "
        f"SELECT package, severity FROM reached; "
        f"CREATE VIEW {name}_by AS SELECT severity, count(*) AS packages FROM {name} GROUP BY severity"
    )
    edges = [("nginx", "gd"), ("gd", "webp"), ("gd", "libc"), ("libc", "gd"), ("tiff", "gd")]
    leaves = [(f"app{number}", "nginx") for number in range(LEVELS)]
    db.table(f"{name}_needs").insert([{"package": a, "needs": b} for a, b in edges + leaves])
    db.table(f"{name}_advisories").insert([{"package": "webp", "severity": "high"}])
    db.table(f"{name}_needs").delete([{"package": "tiff", "needs": "gd"}])
    return name


def open_row(page: Any, value: str) -> Any:
    """The details of the row that has a value in its first column."""
    cell(page, 0, 0).wait_for()
    place = next(row for row in range(30) if value in texts(page, row))
    cell(page, place, 0).dblclick()
    return page.get_by_role("dialog", name="Row")


def test_why_a_row_of_a_recursion_is_there(open_page: OpenPage, reached: str) -> None:
    """The tree goes round by round down to rows of tables, each of which leads to its page."""
    page = open_page(f"#/relation/{reached}")
    row = open_row(page, "nginx")
    row.get_by_role("button", name="Why is this row here?").click()
    why = row.get_by_role("region", name="Why the row is here")
    expect(why.locator("summary").first).to_contain_text("round 3")
    expect(why.locator("summary")).to_have_count(2)  # the row, and that of the round before, which is folded
    why.locator("summary").last.focus()
    page.keyboard.press("Enter")
    expect(why.locator("summary").last).to_contain_text("round 1")
    expect(why).to_contain_text(f"row of table {reached}_needs")
    expect(why.locator("h3")).to_have_text([f"{reached}_advisories 1 row", f"{reached}_needs 2 rows"])
    why.get_by_role("link", name="package gd needs webp").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{reached}_needs")
    details = page.get_by_role("dialog", name="Row")
    expect(details).to_contain_text("webp")
    expect(details.get_by_role("button", name="Edit the row")).to_be_visible()
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)
    expect(page).not_to_have_url(re.compile("row="))


def test_a_group_is_summed_up_and_more_of_it_can_be_asked(open_page: OpenPage, reached: str) -> None:
    page = open_page(f"#/relation/{reached}_by")
    row = open_row(page, "high")
    row.get_by_role("button", name="Why is this row here?").click()
    why = row.get_by_role("region", name="Why the row is here")
    expect(why).to_contain_text(f"and {LEVELS + 4 - 10} more")
    expect(why).to_contain_text("a part of the explanation is left out")
    why.get_by_role("button", name="Show more of them").click()
    expect(why).not_to_contain_text("a part of the explanation is left out")
    expect(why.locator("h3").last).to_have_text(f"{reached}_needs {LEVELS + 3} rows")


def test_the_past_is_explained_as_it_was(open_page: OpenPage, db: Connection, reached: str) -> None:
    """Of an epoch before, the row is there; links lead to that epoch."""
    before = db.sql("SELECT 1 AS one").epoch - 1
    page = open_page(f"#/relation/{reached}")
    expect(page.locator(".state")).to_have_text("live")
    page.get_by_role("slider", name="Epoch").fill(str(before))
    expect(page.locator(".state")).to_have_text("the past")
    row = open_row(page, "tiff")
    row.get_by_role("button", name="Why is this row here?").click()
    why = row.get_by_role("region", name="Why the row is here")
    expect(why).to_contain_text(f"at epoch {before:,}")
    why.get_by_role("link", name="package tiff needs gd").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{reached}_needs")
    expect(page.locator(".state")).to_have_text("the past")
    expect(page.locator(".facts")).to_contain_text(f"{LEVELS + 5} rows")


def test_why_a_row_is_not_there(open_page: OpenPage, reached: str) -> None:
    page = open_page(f"#/relation/{reached}_by")
    page.get_by_role("button", name="Why not…").click()
    dialog = page.get_by_role("dialog", name=f"Why has {reached}_by no such row?")
    expect(dialog.get_by_role("button", name="Why not?")).to_be_disabled()
    dialog.get_by_label("packages bigint").fill("many")
    dialog.get_by_role("button", name="Why not?").click()
    expect(dialog.get_by_role("alert")).to_contain_text('"many" is not a valid BIGINT')
    dialog.get_by_label("packages bigint").fill("")
    dialog.get_by_label("severity text").fill("high")
    dialog.get_by_role("button", name="Why not?").click()
    expect(dialog.get_by_role("alert")).to_contain_text("has such a row")
    dialog.get_by_label("severity text").fill("low")
    dialog.get_by_role("button", name="Why not?").click()
    why = dialog.get_by_role("region", name="Why there is no such row")
    expect(why.locator("summary").first).to_contain_text("the group has no row")
    expect(why.locator("h3")).to_have_text([f"{reached}_advisories 1 row"])
    expect(why.locator("h3 + ul")).to_have_text("severity low")


def test_what_has_changed_a_row(open_page: OpenPage, db: Connection, reached: str) -> None:
    """Each event of the history names the changes of tables, and the request that had them."""
    db.table(f"{reached}_advisories").insert(
        [{"package": "zlib", "severity": "low"}], idempotency_key=f"{reached}-zlib"
    )
    page = open_page(f"#/relation/{reached}_by")
    row = open_row(page, "low")
    history = row.get_by_role("region", name="History of the row")
    expect(history.get_by_role("listitem")).to_have_count(1)
    history.get_by_role("button", name="What did it?").click()
    expect(history.locator(".moved")).to_contain_text(f"the idempotency key {reached}-zlib")
    expect(history.locator(".moved li")).to_have_text(f"+1 {reached}_advisories package zlib severity low")
    page.keyboard.press("Escape")
    open_row(page, "high")
    history.get_by_role("button", name="What did it?").first.click()
    expect(history.locator(".moved li")).to_have_text(f"−1 {reached}_needs package tiff needs gd")
