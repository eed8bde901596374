"""The relation page: live rows, the past, differences, edited rows, a service that restarts, keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import freshet
from freshet import Connection
from tests.console.browser import expect
from tests.console.grids import cell, texts
from tests.service.client import Process

OpenPage = Callable[..., Any]


def test_rows_are_live(open_page: OpenPage, db: Connection, sales: str) -> None:
    page = open_page(f"#/relation/{sales}_by", reduced_motion="no-preference")
    expect(page.locator(".state")).to_have_text("live")
    expect(page.locator(".facts")).to_contain_text("2 rows")
    db.table(sales).insert(
        [{"id": 3, "customer": "ada", "total": "1.00"}, {"id": 4, "customer": "eve", "total": 5}]
    )
    expect(page.locator(".facts")).to_contain_text("3 rows")
    place = next(row for row in range(3) if "ada" in texts(page, row))
    expect(cell(page, place, 2)).to_have_text("31.00")
    expect(page.locator(".chip.in")).to_have_text("+2")
    expect(page.locator(".chip.out")).to_have_text("−1")
    expect(page.locator(".row.in, .cell.changed")).to_have_count(0)  # the flashes end
    db.table(sales).delete({"id": 4})
    expect(page.locator(".facts")).to_contain_text("2 rows")
    expect(page.locator("[data-column='0']")).to_have_count(2)


def test_the_slider_travels(open_page: OpenPage, db: Connection, sales: str) -> None:
    first = db.sql(f"SELECT count(*) AS n FROM {sales}").epoch - 1
    page = open_page(f"#/relation/{sales}")
    expect(page.locator(".facts")).to_contain_text("2 rows")
    page.get_by_role("slider", name="Epoch").fill(str(first))
    expect(page.locator(".facts")).to_contain_text("1 row")
    expect(page.locator(".state")).to_have_text("the past")
    expect(page.locator("[data-column='0']")).to_have_count(1)
    db.table(sales).insert([{"id": 9, "customer": "eve", "total": "1.00"}])  # does not disturb the past
    expect(page.locator("footer .figure").first).to_have_text(str(first + 2))
    page.get_by_role("tab", name="Difference").click()
    page.get_by_role("slider", name="From epoch").fill(str(first))
    page.get_by_role("slider", name="To epoch").fill(str(first + 2))
    expect(page.locator(".chip.in")).to_have_text("+2 added")
    page.get_by_role("tab", name="Rows").click()
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.locator(".facts")).to_contain_text("3 rows")
    expect(page.locator(".state")).to_have_text("live")


def test_filters_by_text_and_by_sql(open_page: OpenPage, db: Connection, sales: str) -> None:
    page = open_page(f"#/relation/{sales}")
    expect(page.locator(".facts")).to_contain_text("2 rows")
    page.get_by_role("searchbox").last.fill("bob")
    expect(page.locator("[data-column='0']")).to_have_count(1)
    page.get_by_role("button", name="SQL").click()
    page.get_by_role("searchbox").last.fill("total > 20")
    expect(cell(page, 0, 1)).to_have_text("ada")
    expect(page.locator("[data-column='0']")).to_have_count(1)
    db.table(sales).insert(
        [{"id": 7, "customer": "cy", "total": "70"}, {"id": 8, "customer": "di", "total": "2"}]
    )
    expect(page.locator("[data-column='0']")).to_have_count(2)
    page.get_by_role("searchbox").last.fill("totl > 20")
    expect(page.get_by_role("alert")).to_contain_text("did you mean total?")


def test_rows_are_inserted_edited_and_have_a_history(open_page: OpenPage, db: Connection, sales: str) -> None:
    page = open_page(f"#/relation/{sales}")
    cell(page, 0, 0).wait_for()
    page.get_by_role("button", name="Insert a row").click()
    page.locator("#value-0").fill("9007199254740993")
    page.locator("#value-1").fill("zoë <b>")
    page.locator("#value-2").fill("not a number")
    page.get_by_role("button", name="Insert", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("NUMERIC")
    page.locator("#value-2").fill("5")
    page.get_by_role("button", name="Insert", exact=True).click()
    expect(cell(page, 2, 0)).to_have_text("9007199254740993")
    cell(page, 2, 0).dblclick()
    page.get_by_role("button", name="Edit the row").click()
    page.locator("#value-2").fill("6.5")
    page.get_by_role("button", name="Save").click()
    expect(cell(page, 2, 2)).to_have_text("6.50")
    rows = db.sql(f"SELECT customer, total FROM {sales} WHERE id = 9007199254740993").dicts()
    assert [(row["customer"], str(row["total"])) for row in rows] == [("zoë <b>", "6.50")]
    cell(page, 2, 0).dblclick()
    expect(page.get_by_role("region", name="History of the row")).to_contain_text("total: 5.00 → 6.50")
    expect(page.get_by_role("region", name="History of the row")).to_contain_text("came")


def test_equal_rows_of_a_bag_are_counted(open_page: OpenPage, db: Connection, name: str) -> None:
    db.sql(f"CREATE TABLE {name} (a BIGINT)")
    db.table(name).insert([{"a": 1}, {"a": 1}, {"a": 2}])
    page = open_page(f"#/relation/{name}")
    expect(page.locator(".facts")).to_contain_text("3 rows")
    assert texts(page, 0) == ["1", "2"]
    db.table(name).delete({"a": 1})
    expect(page.locator(".facts")).to_contain_text("2 rows")
    assert texts(page, 0) == ["1"]


def test_a_restart_is_survived_and_nothing_is_missed(
    open_page: OpenPage, start: Callable[..., Process]
) -> None:
    process = start()
    with freshet.connect(process.url) as db:
        db.sql("CREATE TABLE t (id BIGINT PRIMARY KEY)")
        db.table("t").insert([{"id": n} for n in range(10)])
        page = open_page("#/relation/t", url=process.url)
        expect(page.locator(".facts")).to_contain_text("10 rows")
        process.kill()
        expect(page.locator(".connection")).to_have_text("reconnecting")
        start(port=process.port)
        db.table("t").insert([{"id": n} for n in range(100, 105)])
        db.table("t").delete([{"id": 0}])
    expect(page.locator(".connection")).to_have_text("connected")
    expect(page.locator(".facts")).to_contain_text("14 rows")
    expect(page.locator(".chip.in")).to_have_text("+5")


def test_a_key_is_asked_for_kept_and_sent(open_page: OpenPage, start: Callable[..., Process]) -> None:
    process = start()
    with freshet.connect(process.url) as db:
        db.sql("CREATE TABLE t (id BIGINT PRIMARY KEY)")
        db.table("t").insert([{"id": 5}])
    key = process.http.post("/v1/keys", json={"name": "boss", "role": "admin"}).json()["key"]
    page = open_page("#/relation/t", url=process.url)
    dialog = page.get_by_role("dialog", name="This service asks for a key")
    dialog.get_by_label("Key").fill("fr_wrong_key")
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog).to_contain_text("The key was refused")
    dialog.get_by_label("Key").fill(key)
    dialog.get_by_role("button", name="Go on").click()
    expect(cell(page, 0, 0)).to_have_text("5")
    expect(page.locator(".state")).to_have_text("live")
    page.reload()
    expect(cell(page, 0, 0)).to_have_text("5")
    stored = page.evaluate("JSON.stringify([localStorage, document.cookie])")
    assert key not in stored
    page.get_by_role("button", name="Forget the key").click()
    expect(dialog).to_be_visible()
