"""Debian's Chromium, driven by Playwright. Both are optional: without them the tests of the console skip."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    sync_playwright = expect = None

CHROMIUM = os.environ.get("FRESHET_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = (
    "Playwright is not installed: pip install playwright"
    if sync_playwright is None
    else (
        "" if CHROMIUM else "there is no Chromium: apt-get install chromium, or name it in FRESHET_CHROMIUM"
    )
)
"""Why there is no browser; empty if there is one."""
AXE = Path(__file__).resolve().parents[2] / "console" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 60_000
"""Milliseconds to wait for something on a page: the machine may be busy."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        # In a container there is neither a sandbox of its own nor much shared memory.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Witness:
    """Notes what a page must not do: scripts that fail, dialogs, forbidden content, requests to elsewhere."""

    def __init__(self, page: Any, origin: str) -> None:
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", self._console)
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self._request(request.url, origin))

    def _console(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.faults.append(f"console: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, url: str, origin: str) -> None:
        if not url.startswith((origin, "data:", "blob:")):
            self.faults.append(f"request: {url}")
