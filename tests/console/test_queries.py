"""The query page: results and their order, errors at their place, drafts, EXPLAIN, views out of queries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from freshet import Connection
from tests.console.browser import expect
from tests.console.grids import cell, run_sql, write_sql

OpenPage = Callable[..., Any]
TYPES = {
    "a": "SMALLINT",
    "b": "BIGINT",
    "c": "REAL",
    "d": "DOUBLE PRECISION",
    "e": "NUMERIC(38, 5)",
    "f": "BOOLEAN",
    "g": "TEXT",
    "h": "DATE",
    "i": "TIME",
    "j": "TIMESTAMP",
    "k": "TIMESTAMPTZ",
    "l": "JSON",
    "m": "UUID",
}
VALUES: tuple[tuple[object, ...], ...] = (
    (
        1,
        9007199254740993,
        1.5,
        "NaN",
        "12345678901234567890.12345",
        True,
        'a,"b',
        "2026-01-02",
        "01:02:03.000004",
        "2026-01-02T03:04:05.123456",
        "1969-12-31T23:59:59.5Z",
        {"a": [9007199254740993]},
        "00000000-0000-0000-0000-000000000001",
    ),
    (
        -32768,
        -9223372036854775807,
        -0.5,
        "-Infinity",
        "-0.00001",
        False,
        "",
        "0001-01-01",
        "00:00:00",
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59.999999Z",
        [],
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ),
    (None,) * len(TYPES),
)
COPIES = 400


def test_a_result_is_sorted_filtered_and_counted(open_page: OpenPage, sales: str) -> None:
    page = open_page("#/query")
    run_sql(page, f"SELECT id, customer, total FROM {sales} ORDER BY id")
    expect(cell(page, 0, 1)).to_have_text("ada")
    expect(page.locator(".facts")).to_contain_text("2 rows")
    for expected in ("12.50", "30.00"):  # up, then down
        page.get_by_role("columnheader", name="total").get_by_role("button").click()
        expect(cell(page, 0, 2)).to_have_text(expected)
    page.get_by_role("searchbox", name="Filter rows").fill("bob")
    expect(page.locator(".facts")).to_contain_text("1 of 2 rows")
    expect(cell(page, 0, 1)).to_have_text("bob")


def test_the_statement_at_the_cursor_or_the_selection_is_run(open_page: OpenPage) -> None:
    page = open_page("#/query")
    write_sql(page, "SELECT 'one;' AS a; -- two;\nSELECT 'three' AS a;\n")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+Enter")
    expect(cell(page, 0, 0)).to_have_text("one;")
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+Enter")
    expect(cell(page, 0, 0)).to_have_text("three")


def test_an_error_is_underlined_at_its_place(open_page: OpenPage, sales: str) -> None:
    page = open_page("#/query")
    write_sql(page, f"SELECT 'é😀';\n\n  SELECT id,\n  custmer FROM {sales}")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("did you mean customer?")
    expect(page.locator(".cm-lintRange-error")).to_have_text("custmer")
    run_sql(page, "SELECT 1")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)


def test_drafts_and_the_history_survive_a_reload(open_page: OpenPage) -> None:
    page = open_page("#/query")
    run_sql(page, "SELECT 'kept' AS draft")
    expect(cell(page, 0, 0)).to_have_text("kept")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("SELECT 'kept' AS draft")
    page.get_by_role("button", name="History").click()
    expect(page.locator(".history")).to_contain_text("1 row")


def test_explain_and_a_view_out_of_a_query(open_page: OpenPage, db: Connection, sales: str) -> None:
    page = open_page("#/query")
    write_sql(page, f"SELECT customer FROM {sales} WHERE total > 20;")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("pre.plan")).to_contain_text("scan")
    page.get_by_role("button", name="Make this a view").click()
    page.get_by_label("Name", exact=True).fill(f"{sales}_large")
    page.get_by_role("button", name="Make the view").click()
    expect(page.get_by_role("heading", level=1, name=f"{sales}_large")).to_be_visible()
    expect(cell(page, 0, 0)).to_have_text("ada")
    assert db.sql(f"SELECT count(*) AS n FROM {sales}_large").dicts() == [{"n": 1}]


def test_a_view_is_estimated_before_it_is_made(open_page: OpenPage, db: Connection, sales: str) -> None:
    """The dialog has the dry run's figures and the cure of what is dear, and makes nothing."""
    db.table(sales).insert([{"id": n, "customer": f"c{n % 7}", "total": 1} for n in range(10, 200)])
    page = open_page("#/query")
    write_sql(page, f"SELECT a.id, b.id AS other FROM {sales} a, {sales} b")
    page.get_by_role("button", name="Make this a view").click()
    cost = page.get_by_role("region", name="What it would cost")
    expect(cost.locator("dd").first).to_have_text(f"{192 * 192:,}")
    expect(cost.locator("dt").last).to_have_text(f"A change of {sales}")
    sql = f"SELECT a.id, b.id AS other FROM {sales} a, {sales} b"
    dear = [one["cure"] for one in db.estimate_view(f"{sales}_pairs", sql)["dear"] if one["cure"]]
    assert dear
    expect(cost.locator(".cure").first).to_have_text(dear[0])
    assert f"{sales}_pairs" not in [one.name for one in db.views()]
    page.get_by_role("button", name="Cancel").click()
    write_sql(page, f"SELECT nothing FROM {sales}")
    page.get_by_role("button", name="Make this a view").click()
    expect(cost.get_by_role("alert")).to_contain_text("nothing")
    page.get_by_label("Name", exact=True).fill(f"{sales}_none")
    page.get_by_role("button", name="Make the view").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_have_count(1)


def test_a_live_result_follows_the_epochs(open_page: OpenPage, db: Connection, sales: str) -> None:
    page = open_page("#/query")
    run_sql(page, f"SELECT count(*) AS n FROM {sales}")
    expect(cell(page, 0, 0)).to_have_text("2")
    page.get_by_role("button", name="Live").click()
    db.table(sales).insert([{"id": 3, "customer": "eve", "total": "1.00"}])
    expect(cell(page, 0, 0)).to_have_text("3")


def test_rows_that_came_as_arrow_are_as_those_of_json(
    open_page: OpenPage, db: Connection, name: str, tmp_path: Path
) -> None:
    """The first 500 rows come as JSON, the others as Arrow: extremes and NULL of each type look the same."""
    columns = ", ".join(f"{column} {type}" for column, type in TYPES.items())
    db.sql(f"CREATE TABLE {name} (n BIGINT, {columns})")
    db.table(name).insert(
        [{"n": n} | dict(zip(TYPES, VALUES[n % 3], strict=True)) for n in range(3 * COPIES)]
    )
    page = open_page("#/query")
    run_sql(page, f"SELECT n, {', '.join(TYPES)} FROM {name} ORDER BY n")
    expect(page.locator(".facts")).to_contain_text("1,200 rows")
    with page.expect_download() as download:
        page.get_by_role("button", name="NDJSON").click()
    download.value.save_as(tmp_path / "rows")
    lines = (tmp_path / "rows").read_text().splitlines()
    assert len(lines) == 3 * COPIES
    of_values = [{line.partition(",")[2] for line in lines[place::3]} for place in range(3)]
    assert [len(found) for found in of_values] == [1, 1, 1], of_values
    assert '"b":9007199254740993,' in lines[-3]
    assert '"e":"12345678901234567890.12345"' in lines[-3]
    assert '"h":"0001-01-01"' in lines[-2]
