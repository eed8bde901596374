"""Behind FRESHET_BROWSER=1: a million rows, 500 views, 1,000 changes a second, memory, ten open pages.

FRESHET_BROWSER_MINUTES is how long memory is watched. What is measured is printed: run it with `-s`.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import freshet
from freshet import Connection
from tests.console.browser import expect
from tests.console.grids import cell, run_sql
from tests.service.client import Process

pytestmark = pytest.mark.skipif("FRESHET_BROWSER" not in os.environ, reason="FRESHET_BROWSER=1 runs it")
OpenPage = Callable[..., Any]
SECONDS = 10
RATE = 1000
TURNS, POSTS = 5, 40
MINUTES = float(os.environ.get("FRESHET_BROWSER_MINUTES", "0.5"))
FRAMES = """() => new Promise(done => {
  const gaps = [];
  let last = performance.now();
  const end = last + 8000;
  const frame = now => {
    gaps.push(now - last);
    last = now;
    now < end ? requestAnimationFrame(frame) : done(gaps);
  };
  requestAnimationFrame(frame);
})"""


def test_a_million_rows(open_page: OpenPage) -> None:
    page = open_page("#/query")
    run_sql(
        page,
        "SELECT i, i * i AS square, 'row ' || i AS name FROM generate_series(1, 1000000) AS t(i) ORDER BY i",
    )
    expect(page.locator(".facts")).to_contain_text("1,000,000 rows", timeout=240_000)
    page.get_by_role("grid").focus()
    page.keyboard.press("Control+End")
    expect(cell(page, 999_999, 0)).to_have_text("1000000")
    page.get_by_role("columnheader", name="i bigint").get_by_role("button").click()
    page.get_by_role("columnheader", name="i bigint").get_by_role("button").click()
    page.keyboard.press("Control+Home")
    expect(cell(page, 0, 0)).to_have_text("1000000", timeout=120_000)


def test_five_hundred_views(open_page: OpenPage, start: Callable[..., Process]) -> None:
    process = start()
    with freshet.connect(process.url) as db:
        db.sql("CREATE TABLE t (a BIGINT)")
        for number in range(500):
            db.create_view(f"v{number:03}", f"SELECT a + {number} AS b FROM t WHERE a > {number}")
    page = open_page("#/dataflow", url=process.url)
    page.wait_for_selector(".svelte-flow__node", timeout=240_000)
    page.get_by_role("searchbox", name="Filter names").fill("v499")
    page.get_by_role("link", name="v499").click()
    expect(page.locator(".state")).to_have_text("live")


def test_a_thousand_changes_a_second(open_page: OpenPage, db: Connection, name: str) -> None:
    """All of them are counted, and the page goes on drawing: the gaps between frames are told."""
    db.sql(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, n BIGINT)")
    table = db.table(name)
    table.insert([{"id": n, "n": 0} for n in range(1000)])
    page = open_page(f"#/relation/{name}", reduced_motion="no-preference")
    expect(page.locator(".state")).to_have_text("live")
    sent = 0

    def send() -> None:
        nonlocal sent
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            begun = time.monotonic()
            table.upsert([{"id": (sent + n) % 1000, "n": sent + n + 1} for n in range(RATE // 20)])
            sent += RATE // 20
            time.sleep(max(0.0, 0.05 - (time.monotonic() - begun)))

    sender = threading.Thread(target=send)
    sender.start()
    gaps = page.evaluate(FRAMES)
    sender.join()
    expect(page.locator(".chip.in")).to_have_text(f"+{sent:,}")
    expect(page.locator(".chip.out")).to_have_text(f"−{sent:,}")
    gaps.sort()
    print(
        f"{sent} changes, {len(gaps)} frames, "
        f"gaps in ms: median {gaps[len(gaps) // 2]:.1f}, longest {gaps[-1]:.1f}"
    )
    assert gaps[-1] < 1000


def test_ten_open_pages_cost_a_post_little(open_page: OpenPage, start: Callable[..., Process]) -> None:
    """The time of a one-row post, with ten pages live on what it changes and with none, in turns."""
    process = start()
    with freshet.connect(process.url) as db:
        db.sql("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
        db.sql("CREATE VIEW v AS SELECT n % 10 AS k, count(*) AS c FROM t GROUP BY n % 10")
        db.table("t").insert([{"id": n, "n": n} for n in range(1000)])
        pages = [open_page("#/relation/t", url=process.url) for _ in range(10)]
        number = 0

        def turn() -> float:
            nonlocal number
            took = []
            for _ in range(POSTS):
                number += 1
                began = time.perf_counter()
                db.table("t").upsert([{"id": number % 1000, "n": number}])
                took.append(time.perf_counter() - began)
            return statistics.median(took) * 1000

        with_pages, without = [], []
        for _ in range(TURNS):
            for page in pages:
                page.goto(f"{process.url}/#/relation/{'tv'[len(with_pages) % 2]}")
                expect(page.locator(".state")).to_have_text("live")
            with_pages.append(turn())
            for page in pages:
                page.goto("about:blank")
            without.append(turn())
    print(f"ms with ten pages {with_pages}, with none {without}, load {os.getloadavg()[0]:.1f}")
    print(f"medians {statistics.median(with_pages):.2f} and {statistics.median(without):.2f} ms")
    assert statistics.median(with_pages) < 5 * statistics.median(without)


def test_memory_stays_level(open_page: OpenPage, db: Connection, name: str) -> None:
    """As long as FRESHET_BROWSER_MINUTES says: the heap, after each collection, ends where it began."""
    db.sql(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, n BIGINT)")
    table = db.table(name)
    table.insert([{"id": n, "n": 0} for n in range(1000)])
    page = open_page(f"#/relation/{name}", reduced_motion="no-preference")
    expect(page.locator(".state")).to_have_text("live")
    session = page.context.new_cdp_session(page)
    heaps: list[float] = []
    end, sent = time.monotonic() + 60 * MINUTES, 0
    looked = 0.0
    while time.monotonic() < end:
        table.upsert([{"id": (sent + n) % 2000, "n": sent + n + 1} for n in range(50)])
        sent += 50
        if time.monotonic() - looked > 5:
            session.send("HeapProfiler.collectGarbage")
            heaps.append(session.send("Runtime.getHeapUsage")["usedSize"] / 2**20)
            looked = time.monotonic()
        page.wait_for_timeout(50)
    third = max(1, len(heaps) // 3)
    first, last = statistics.median(heaps[third : 2 * third] or heaps), statistics.median(heaps[-third:])
    print(f"{sent} changes in {MINUTES} min, MiB after the first third {first:.1f}, at the end {last:.1f}")
    assert last < 1.15 * first + 2


def test_the_first_paint(open_page: OpenPage) -> None:
    """From the request to the first contents, of a page that the browser has not seen."""
    paints = []
    for _ in range(5):
        page = open_page("#/query")
        page.wait_for_selector(".cm-content")
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    print(f"first contentful paint in ms: {[round(paint) for paint in paints]}")
    assert min(paints) < 5000
