"""How the tests read the console's tables and write into its editor."""

from __future__ import annotations

from typing import Any

_PASTE = """(element, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
}"""


def cell(page: Any, row: int, column: int) -> Any:
    return page.locator(f"#cell-{row}-{column}")


def texts(page: Any, row: int) -> list[str]:
    """The drawn cells of a row."""
    return page.locator(f"[data-row='{row}']").all_text_contents()


def write_sql(page: Any, sql: str) -> None:
    """Replaces the draft's text, as a paste does."""
    page.wait_for_selector(".cm-content")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.locator(".cm-content").evaluate(_PASTE, sql)


def run_sql(page: Any, sql: str) -> None:
    write_sql(page, sql)
    page.keyboard.press("Control+Shift+Enter")
