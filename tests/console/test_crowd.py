"""Behind FRESHET_BROWSER=1: a million rows, 500 views, 1,000 changes a second."""

from __future__ import annotations

import os
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
