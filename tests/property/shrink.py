"""Makes a failing case small: views that do not matter, then epochs, changes, then the SQL, then values.

A smaller case counts if it still fails in the same kind. It is tried as a whole: the referee answers it
anew, so that what is left is a failure in its own right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from engine.schema import Schema
from tests.property.cases import Answers, Case, answers
from tests.property.histories import Change, History, is_valid
from tests.property.mismatch import Mismatch
from tests.property.recursion import Recursion
from tests.property.schemas import Table
from tests.property.terms import smaller
from tests.property.views import View

Check = Callable[[Case, Answers], Mismatch | None]


def shrink(case: Case, mismatch: Mismatch, check: Check, seconds: float = 60) -> tuple[Case, Mismatch]:
    """The smallest case that was found in the time, and how it fails."""
    deadline = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for candidate in candidates(case, mismatch):
            found = fails(candidate, mismatch, check)
            if found is not None:
                case, mismatch, progress = candidate, found, True
                break
            if time.monotonic() > deadline:
                break
    return case, mismatch


def fails(case: Case, before: Mismatch, check: Check) -> Mismatch | None:
    """How the case fails, if in the same way as before."""
    if not is_valid(case.tables, case.history):
        return None
    found = answers(case)
    if len(found) < len(case.views):
        return None
    mismatch = check(case, found)
    return mismatch if mismatch is not None and _alike(mismatch, before) else None


def _alike(one: Mismatch, other: Mismatch) -> bool:
    """The same kind; of crashes and refusals also the same place."""
    if one.kind in ("crash", "refused"):
        return one.kind == other.kind and _gist(one) == _gist(other)
    return one.kind == other.kind


def _gist(mismatch: Mismatch) -> str:
    text = str(mismatch.got)
    return text[text.rfind("(") :] if mismatch.kind == "crash" else text.split(":")[0]


def candidates(case: Case, mismatch: Mismatch) -> Iterator[Case]:
    """Cases with less in them, the greatest steps first."""
    yield from _fewer_views(case, mismatch)
    yield from _shorter_histories(case)
    yield from _fewer_tables(case)
    yield from _smaller_views(case)
    yield from _simpler_values(case)


def _fewer_views(case: Case, mismatch: Mismatch) -> Iterator[Case]:
    needed = {mismatch.view}
    for view in reversed(case.views):
        if view.name in needed:
            needed |= view.reads
    if mismatch.view and len(needed) < len(case.views):
        yield replace(case, views=tuple(view for view in case.views if view.name in needed))
    for i, view in enumerate(case.views):
        if not any(view.name in other.reads for other in case.views):
            yield replace(case, views=case.views[:i] + case.views[i + 1 :])


def _shorter_histories(case: Case) -> Iterator[Case]:
    history = case.history
    size = len(history)
    while size:
        for start in range(0, len(history), size):
            yield replace(case, history=history[:start] + history[start + size :])
        size //= 2
    for i in range(len(history) - 1):
        yield replace(case, history=(*history[:i], history[i] + history[i + 1], *history[i + 2 :]))
    for i, epoch in enumerate(history):
        size = len(epoch)
        while size:
            for start in range(0, len(epoch), size):
                left = epoch[:start] + epoch[start + size :]
                yield replace(case, history=(*history[:i], left, *history[i + 1 :]))
            size //= 2
    rows = {(change.table, change.row) for epoch in history for change in epoch}
    for table, row in sorted(rows, key=repr):
        yield replace(case, history=_without(history, table, row))


def _without(history: History, table: str, row: tuple[object, ...]) -> History:
    return tuple(tuple(c for c in epoch if (c.table, c.row) != (table, row)) for epoch in history)


def _fewer_tables(case: Case) -> Iterator[Case]:
    text = " ".join(view.sql() for view in case.views)
    for table in case.tables:
        if table.name not in text:
            history = tuple(tuple(c for c in epoch if c.table != table.name) for epoch in case.history)
            yield replace(case, tables=tuple(t for t in case.tables if t != table), history=history)
            continue
        for i in range(len(table.schema)):
            if len(table.schema) > 1 and i not in (table.key or ()):
                yield _without_column(case, table, i)


def _without_column(case: Case, table: Table, position: int) -> Case:
    """The case with one column less; who refers to it makes the case invalid."""

    def without(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return values[:position] + values[position + 1 :]

    key = tuple(i - (i > position) for i in table.key) if table.key is not None else None
    narrow = replace(table, schema=Schema(without(table.schema.columns)), key=key)
    history = tuple(
        tuple(replace(c, row=without(c.row)) if c.table == table.name else c for c in epoch)
        for epoch in case.history
    )
    return replace(case, tables=tuple(narrow if t == table else t for t in case.tables), history=history)


def _smaller_views(case: Case) -> Iterator[Case]:
    for i, view in enumerate(case.views):
        for changed in _smaller_view(view):
            yield replace(case, views=(*case.views[:i], changed, *case.views[i + 1 :]))


def _smaller_view(view: View) -> Iterator[View]:
    if view.recursion is not None:
        for recursion in _smaller_recursion(view.recursion):
            yield replace(view, recursion=recursion)
    for query in smaller(view.query):
        if query.size < view.query.size:
            yield replace(view, query=query)


def _smaller_recursion(recursion: Recursion) -> Iterator[Recursion | None]:
    yield None
    bindings = recursion.bindings
    for i, binding in enumerate(bindings):
        if len(bindings) > 1:
            yield replace(recursion, bindings=bindings[:i] + bindings[i + 1 :])
        for body in smaller(binding.body):
            if body.size < binding.body.size:
                changed = replace(binding, body=body)
                yield replace(recursion, bindings=(*bindings[:i], changed, *bindings[i + 1 :]))


def _simpler_values(case: Case) -> Iterator[Case]:
    """The same history with one value, wherever it stands in a column, replaced by a plainer one."""
    for table in case.tables:
        for position, column in enumerate(table.schema.columns):
            held = {c.row[position] for epoch in case.history for c in epoch if c.table == table.name}
            for value in sorted(held - {None, 0, 1, "", "a"}, key=repr):
                for plain in (None,) if column.nullable else ():
                    yield replace(case, history=_replaced(case.history, table.name, position, value, plain))


def _replaced(history: History, table: str, position: int, value: object, plain: object) -> History:
    def changed(change: Change) -> Change:
        if change.table != table or change.row[position] != value:
            return change
        return replace(change, row=(*change.row[:position], plain, *change.row[position + 1 :]))

    return tuple(tuple(changed(change) for change in epoch) for epoch in history)
