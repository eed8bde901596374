"""The console in a browser: each page renders, the keyboard is enough, and no data are executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from freshet import Connection
from tests.console.browser import AXE, expect
from tests.console.grids import cell, run_sql, texts

OpenPage = Callable[..., Any]
PLACES = {
    "#/query": "Query",
    "#/relation/{sales}": "{sales}",
    "#/relation/{sales}_by": "{sales}_by",
    "#/branches": "Branches",
    "#/dataflow": "Dataflow",
    "#/dataflow/{sales}_by": "Dataflow of {sales}_by",
    "#/service": "Service",
    "#/tour": "The tour",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_page_renders_and_everybody_can_use_it(open_page: OpenPage, sales: str, theme: str) -> None:
    """axe-core looks for what keeps people from using a page: faint text, a field without a name."""
    page, told = open_page(color_scheme=theme), []
    for place, title in PLACES.items():
        page.evaluate("place => { location.hash = place }", place.format(sales=sales))
        expect(page.get_by_role("heading", level=1, name=title.format(sales=sales))).to_be_attached()
        _settled(page, place)
        if AXE.exists():
            page.evaluate(AXE.read_text() + "; undefined")
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            told += [(place, one["id"], node["html"][:150]) for one in found for node in one["nodes"]]
    assert told == []


def _settled(page: Any, place: str) -> None:
    awaited = {
        "#/query": ".cm-content",
        "#/relation/{sales}": "[role=gridcell]",
        "#/relation/{sales}_by": "[role=gridcell]",
        "#/branches": "form",
        "#/dataflow": ".svelte-flow__node",
        "#/dataflow/{sales}_by": ".svelte-flow__node",
        "#/service": "table.plain",
        "#/tour": ".step",
    }
    page.wait_for_selector(awaited[place])


def test_a_page_that_is_not_there(open_page: OpenPage) -> None:
    page = open_page("#/nowhere")
    expect(page.get_by_text("There is no such page")).to_be_visible()
    page.evaluate("location.hash = '#/relation/nobody'")
    expect(page.get_by_text("There is no table or view of this name")).to_be_visible()


def test_a_phone(open_page: OpenPage, sales: str) -> None:
    page = open_page(f"#/relation/{sales}", viewport={"width": 380, "height": 740})
    expect(cell(page, 0, 1)).to_have_text("ada")
    for place in PLACES:
        page.evaluate("place => { location.hash = place }", place.format(sales=sales))
        _settled(page, place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380, place
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Service").click()
    expect(page.get_by_role("heading", level=1, name="Service")).to_be_visible()


def test_the_keyboard_alone(open_page: OpenPage, sales: str) -> None:
    page = open_page("#/query")
    page.wait_for_selector(".cm-content")
    page.keyboard.type("SELECT 1 AS one")
    page.keyboard.press("Control+Enter")
    expect(cell(page, 0, 0)).to_have_text("1")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").wait_for()
    page.keyboard.type(f"{sales}_by")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=f"{sales}_by")).to_be_visible()
    cell(page, 0, 0).wait_for()
    for _ in range(200):  # past all names on the rail, which other tests have made
        if page.evaluate("document.activeElement.getAttribute('role')") == "grid":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    active = page.evaluate("document.activeElement.getAttribute('aria-activedescendant')")
    assert active == "cell-1-1"
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Row")).to_contain_text("bob")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Row")).to_have_count(0)


ATTACK = """<img src=x onerror='attacked=1'>"${1}"""


def test_names_and_values_are_never_executed(open_page: OpenPage, db: Connection, name: str) -> None:
    """Names of tables, views and columns, values, comments and errors are texts wherever they are shown."""
    table, quoted = f"{name}{ATTACK}", ATTACK.replace('"', '""')
    text = ATTACK.replace("'", "''")
    db.script(
        f'CREATE TABLE "{name}{quoted}" (id BIGINT PRIMARY KEY, "{quoted}" TEXT); '
        f"INSERT INTO \"{name}{quoted}\" VALUES (1, '{text}'); "
        f"COMMENT ON TABLE \"{name}{quoted}\" IS '{text}'; "
        f'CREATE VIEW "{name}v{quoted}" AS SELECT "{quoted}", \'{text}\' AS b FROM "{name}{quoted}"'
    )
    page = open_page("#/query")
    for relation in (table, f"{name}v{ATTACK}"):
        page.evaluate("name => { location.hash = '#/relation/' + encodeURIComponent(name) }", relation)
        expect(page.get_by_role("heading", level=1)).to_have_text(relation)
        cell(page, 0, 0).wait_for()
        assert ATTACK in texts(page, 0)
        for tab in ("Difference", "Chart", "Definition", "Rows"):
            page.get_by_role("tab", name=tab).click()
            page.wait_for_timeout(100)
        page.get_by_role("grid").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text("onerror")
        if relation != table:
            page.get_by_role("button", name="Why is this row here?").click()
            expect(page.get_by_role("region", name="Why the row is here")).to_contain_text(
                f"row of table {table}"
            )
            page.get_by_role("button", name="What did it?").click()
            expect(page.locator(".moved")).to_contain_text(table)
        page.keyboard.press("Escape")
    for place in ("#/dataflow", "#/service", "#/tour"):
        page.evaluate("place => { location.hash = place }", place)
        _settled(page, place)
    page.evaluate("name => { location.hash = '#/dataflow/' + encodeURIComponent(name) }", f"{name}v{ATTACK}")
    page.wait_for_selector(".svelte-flow__node")
    page.evaluate("location.hash = '#/query'")
    run_sql(page, f'SELECT "{quoted}" FROM "{name}{quoted}" WHERE "{quoted}x" = 1')
    expect(page.get_by_role("alert")).to_contain_text("onerror")
    run_sql(page, f'SELECT * FROM "{name}{quoted}"')
    expect(cell(page, 0, 1)).to_have_text(ATTACK)
    assert page.evaluate("window.attacked") is None
    assert page.locator("img").count() == 0
    db.sql(f'DROP VIEW "{name}v{quoted}"')
    db.sql(f'DROP TABLE "{name}{quoted}"')
