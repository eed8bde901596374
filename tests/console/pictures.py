"""Pictures of the console, light and dark, for the documents: `python -m tests.console.pictures`.

The service runs over a new data directory with the demo's packages, and some changes to look at.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from pyarrow.parquet import read_table

import freshet
from service.demo.story import HERE, statements
from tests.console.browser import MISSING, PATIENCE, chromium
from tests.console.grids import write_sql
from tests.service.client import Process

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
SIZE = {"width": 1280, "height": 800}
PHONE = {"width": 380, "height": 780}
QUERY = """SELECT section, count(*) AS packages, sum(size) AS kib
FROM packages
GROUP BY section
ORDER BY kib DESC"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a service that has the demo's views already")
    url = parser.parse_args().url
    if MISSING:
        raise SystemExit(MISSING)
    PICTURES.mkdir(exist_ok=True)
    if url:
        draw(url)
        return
    with tempfile.TemporaryDirectory() as directory:
        process = Process(Path(directory), {})
        try:
            process.wait_ready()
            prepare(process.url)
            draw(process.url)
        finally:
            process.kill()


def prepare(url: str) -> None:
    """Loads the packages and makes the views; an advisory comes, goes and returns."""
    with freshet.connect(url) as db:
        for statement in statements("tables.sql").values():
            db.sql(statement)
        for name in ("packages", "depends"):
            db.table(name).insert(read_table(HERE / f"{name}.parquet"))
        views = statements("views.sql")
        for name in ("affected", "reinstall", "edges", "distance"):
            db.create_view(name, views[name])
        table = db.table("advisories")
        for number, package in enumerate(("libwebp7", "libssl3", "zlib1g", "libwebp7"), start=1):
            table.insert({"id": f"DSA-{number}", "package": package, "severity": "high"})
            if number != 4:
                table.delete({"id": f"DSA-{number}"})


def draw(url: str) -> None:
    with chromium() as browser:
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(f"{url}/")
            for name, draw_page in DRAWN.items():
                draw_page(page, url)
                page.wait_for_timeout(1500)
                page.screenshot(path=PICTURES / f"{name}-{scheme}.png")
            page.set_viewport_size(PHONE)
            _relation(page, url)
            page.wait_for_timeout(1500)
            page.screenshot(path=PICTURES / f"phone-{scheme}.png")
            context.close()


def _go(page: Any, place: str, awaited: str) -> None:
    page.evaluate("location.hash = '#/nowhere'")  # a page that is left begins anew
    page.wait_for_selector(".message")
    page.evaluate("place => { location.hash = place }", place)
    page.wait_for_selector(awaited)


def _query(page: Any, url: str) -> None:
    _go(page, "#/query", ".cm-content")
    write_sql(page, QUERY)
    page.keyboard.press("Control+Shift+Enter")
    page.wait_for_selector("[role=gridcell]")


def _error(page: Any, url: str) -> None:
    _go(page, "#/query", ".cm-content")
    write_sql(page, QUERY.replace("kib\n", "kib, sectin\n"))
    page.keyboard.press("Control+Shift+Enter")
    page.wait_for_selector(".cm-lintRange-error")


def _relation(page: Any, url: str) -> None:
    _go(page, "#/relation/reinstall", "[role=gridcell]")


def _difference(page: Any, url: str) -> None:
    _go(page, "#/relation/reinstall", "[role=gridcell]")
    page.get_by_role("tab", name="Difference").click()
    page.wait_for_selector(".chip.in")


def _chart(page: Any, url: str) -> None:
    _go(page, "#/relation/reinstall", "[role=gridcell]")
    page.get_by_role("tab", name="Chart").click()
    page.wait_for_selector(".u-over")


def _definition(page: Any, url: str) -> None:
    _go(page, "#/relation/reinstall", "[role=gridcell]")
    page.get_by_role("tab", name="Definition").click()


def _catalog(page: Any, url: str) -> None:
    _go(page, "#/dataflow", ".svelte-flow__node")


def _dataflow(page: Any, url: str) -> None:
    _go(page, "#/dataflow/affected", ".svelte-flow__node b")


def _lit(page: Any, url: str) -> None:
    _go(page, "#/dataflow/reinstall", ".svelte-flow__node b")
    page.locator("pre .part").last.click()


def _replay(page: Any, url: str) -> None:
    _go(page, "#/dataflow/affected", ".svelte-flow__node b")
    page.get_by_role("button", name="Replay an epoch").click()
    page.get_by_role("button", name="round 2").first.click()
    bar = page.get_by_role("region", name="Replay")
    while "join" not in bar.get_by_role("status").inner_text():
        bar.get_by_role("button", name="The next step").click()


def _service(page: Any, url: str) -> None:
    _go(page, "#/service", "table.plain")


def _tour(page: Any, url: str) -> None:
    _go(page, "#/tour", ".step")


DRAWN = {
    "query": _query,
    "error": _error,
    "relation": _relation,
    "difference": _difference,
    "chart": _chart,
    "definition": _definition,
    "catalog": _catalog,
    "dataflow": _dataflow,
    "lit": _lit,
    "replay": _replay,
    "service": _service,
    "tour": _tour,
}

if __name__ == "__main__":
    main()
