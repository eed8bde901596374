"""What a view keeps, because others read it: its columns, and its valid time."""

from __future__ import annotations

from engine.schema import Schema, keeps_words
from service.definitions.definition import Definition
from service.errors import Conflict


def check_time_stays(old: Definition, view: Definition, changed: str) -> None:
    """Raises Conflict if a view, over `changed` relations, no longer had valid time."""
    if old.period is not None and view.period is None:
        raise Conflict(
            f"view {view.name}, which reads {changed}, would lose its valid time",
            f"let {changed} keep its valid time, or drop {view.name} first",
            code="in_use",
        )


def check_columns_stay(columns: Schema, view: Definition, changed: str) -> None:
    """Raises Conflict unless a view, over `changed` relations, still has these columns first, in order. Their
    types may be wider, and new ones may follow them."""
    for place, column in enumerate(columns.columns):
        now = view.schema.columns[place] if place < len(view.schema) else None
        if now is None or now.name != column.name or not keeps_words(column.type, now.type):
            became = "gone" if now is None else f"{now.name} {now.type}"
            raise Conflict(
                f"column {column.name} {column.type} of view {view.name}, which reads {changed}, would be "
                f"{became}",
                f"keep what it reads, or drop {view.name} first",
                code="in_use",
            )
