"""Rows as HTML tables, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

SHOWN = 20
"""Rows that a notebook shows."""


def html_table(columns: Mapping[str, str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """A table with the columns' types as tooltips. A NULL is an empty cell."""
    head = "".join(
        f'<th title="{html.escape(type)}">{html.escape(name)}</th>' for name, type in columns.items()
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: object) -> str:
    return f"<td>{'' if value is None else html.escape(str(value))}</td>"
