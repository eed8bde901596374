"""The dataflow in a browser: parts of the SQL and their operators light each other; an epoch is replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from freshet import Connection
from tests.console.browser import AXE, expect

OpenPage = Callable[..., Any]


@pytest.fixture
def reach(db: Connection, name: str) -> Iterator[str]:
    """A recursive view over a path of five edges, the last of which came alone."""
    db.script(
        f"CREATE TABLE {name}_edges (a BIGINT, b BIGINT); CREATE VIEW {name}_reach AS "
        f"WITH RECURSIVE r(a, b) AS (SELECT a, b FROM {name}_edges UNION "
        f"SELECT r.a, e.b FROM r JOIN {name}_edges e ON r.b = e.a) SELECT a, b FROM r WHERE b > -1"
    )
    db.table(f"{name}_edges").insert([{"a": n, "b": n + 1} for n in range(4)])
    db.table(f"{name}_edges").insert([{"a": 4, "b": 5}])
    yield f"{name}_reach"
    db.sql(f"DROP VIEW {name}_reach")
    db.sql(f"DROP TABLE {name}_edges")


def part(page: Any, text: str) -> Any:
    return page.locator("pre .part").filter(has_text=text).first


def test_sql_and_operators_light_each_other(open_page: OpenPage, reach: str) -> None:
    page = open_page(f"#/dataflow/{reach}")
    page.wait_for_selector(".svelte-flow__node b")
    part(page, "r.b = e.a").hover()
    expect(page.locator(".box.lit")).not_to_have_count(0)
    expect(page.locator(".box.lit").filter(has_text="join")).not_to_have_count(0)
    part(page, "r.b = e.a").click()
    expect(page.locator("pre .lit")).to_have_text(["r.b = e.a"])
    page.locator(".svelte-flow__node").filter(has_text="source").first.click()
    expect(page.locator("pre .lit")).to_have_count(2)  # the table is named twice
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("source")


def test_an_epoch_is_replayed_step_by_step(open_page: OpenPage, db: Connection, reach: str) -> None:
    """The rounds of the recursion, what each step took and passed on, and the rows; by the keyboard too."""
    page = open_page(f"#/dataflow/{reach}")
    page.get_by_role("button", name="Replay an epoch").click()
    bar = page.get_by_role("region", name="Replay")
    expect(bar.get_by_role("status")).to_contain_text("Step 1 of")
    expect(bar.get_by_role("status")).to_contain_text("passed on 1 difference")
    expect(page.locator(".box.now")).to_contain_text("source")
    expect(page.locator(".box.still")).not_to_have_count(0)
    details = page.get_by_role("complementary", name="Details")
    expect(details.get_by_role("row").last).to_contain_text("+1")
    bar.get_by_role("button", name="round 2").click()
    expect(bar.get_by_role("status")).to_contain_text("round 2")
    bar.get_by_role("slider", name="Step").focus()
    page.keyboard.press("End")
    expect(bar.get_by_role("status")).to_contain_text("outside of recursions: history")
    expect(page.locator(".box.now")).to_contain_text("history")
    expect(details).to_contain_text("passed on 5")
    expect(bar.get_by_role("button", name="The next step")).to_be_disabled()
    epochs = bar.get_by_label("Epoch").locator("option")
    expect(epochs).to_have_count(2)
    expect(epochs.first).to_contain_text(":")  # its clock time
    bar.get_by_label("Epoch").select_option(index=1)
    expect(bar.get_by_role("status")).to_contain_text("Step 1 of")
    bar.get_by_role("slider", name="Step").press("End")
    expect(details).to_contain_text("passed on 10")
    if AXE.exists():
        page.evaluate(AXE.read_text() + "; undefined")
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert [(one["id"], node["html"][:150]) for one in found for node in one["nodes"]] == []
    bar.get_by_role("button", name="End the replay").click()
    expect(bar).to_have_count(0)


def test_what_has_just_flowed_is_shown(open_page: OpenPage, db: Connection, reach: str) -> None:
    edges = db.table(reach.replace("reach", "edges"))
    for n in range(5, 37):  # of small epochs, one in sixteen is timed
        edges.insert([{"a": n, "b": n + 1}])
    page = open_page(f"#/dataflow/{reach}")
    page.wait_for_selector(".svelte-flow__node b")
    expect(page.locator(".words")).to_contain_text("since the service runs it")
    edges.insert([{"a": 37, "b": 38}])
    expect(page.locator(".fresh").first).to_be_visible()


def test_epochs_have_their_clock_times(open_page: OpenPage, sales: str) -> None:
    page = open_page(f"#/relation/{sales}")
    year = page.evaluate("new Date().getFullYear().toString()")
    expect(page.locator(".slider .epoch")).to_contain_text(year)
    page.get_by_role("button", name="The change before").click()
    expect(page.locator(".state")).to_have_text("the past")
    expect(page.locator(".slider .epoch")).to_contain_text(year)
    page.get_by_role("tab", name="Difference").click()
    expect(page.locator(".slider .epoch span")).to_have_count(2)


def test_the_catalog_is_followed(open_page: OpenPage, db: Connection, sales: str) -> None:
    """Without an epoch, and without a look at it: a view that is made, and one that is dropped."""
    page = open_page(f"#/relation/{sales}_by")
    page.get_by_role("tab", name="Definition").click()
    db.sql(f"CREATE VIEW {sales}_more AS SELECT customer FROM {sales}_by")
    expect(page.get_by_role("main").get_by_role("link", name=f"{sales}_more")).to_be_visible(timeout=10_000)
    db.sql(f"DROP VIEW {sales}_more")
    expect(page.get_by_role("main").get_by_role("link", name=f"{sales}_more")).to_have_count(
        0, timeout=10_000
    )


def test_the_service_shows_what_an_admin_sees(open_page: OpenPage, db: Connection, sales: str) -> None:
    db.sql(f"SELECT count(*) AS n FROM {sales}")
    page = open_page("#/service")
    expect(page.get_by_text("the catalog", exact=True).first).to_be_visible()
    expect(page.get_by_text(f"SELECT count(*) AS n FROM {sales}").first).to_be_attached()
    page.get_by_role("searchbox", name="Filter settings").fill("FRESHET_PORT")
    expect(page.get_by_text("port to listen on")).to_be_visible()
    page.get_by_label("Most").select_option("rows")
    expect(page.get_by_role("cell", name=sales, exact=True).first).to_be_visible()
