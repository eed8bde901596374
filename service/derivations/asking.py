"""Questions about rows: the row that is meant, and an answer within limits, beside everything that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from engine.codec.json import encode_rows
from engine.errors import BuildCancelled, OverBudget
from engine.operators.allowance import Allowance, Spending
from engine.plan.nodes import sources_of
from engine.schema import Schema
from service.definitions.definition import Definition
from service.derivations.why import AskedEpoch
from service.errors import Conflict, Invalid, NotFound, Unavailable
from service.reading.callers import Caller
from service.reading.reads import check_epoch, check_health, check_planned

T = TypeVar("T")
_ALLOWANCE = Allowance(seconds=5.0, rows=5_000_000, bytes=512 << 20, all_seconds=10.0)
"""What an explanation may use, all its queries together."""


def tables_of(view: Definition) -> list[str]:
    """The tables from which a view is computed. Raises Conflict for a view without a plan."""
    if view.planned is None:
        raise Conflict(f"view {view.name} cannot run: {view.failure}", code="view_failed")
    return sorted(source.name for source in sources_of(view.planned.plan))


def check_readable(view: Definition, asked: AskedEpoch) -> None:
    """Raises what `check_health` does unless the view, and all that it reads, can be read at the epoch."""
    check_health(view, asked.snapshot, asked.epoch, skip_errors=True)
    check_planned(view, asked.epoch)
    for name in {*tables_of(view), *view.reads}:
        if name in asked.snapshot.relations:
            check_epoch(asked.snapshot, name, asked.epoch)


def wish_of(view: Definition, values: Mapping[str, object], asked: AskedEpoch) -> dict[str, int]:
    """The words of values in JSON's terms, by column. Raises Invalid."""
    schema = view.schema
    unknown = [name for name in values if name not in schema.names]
    if unknown:
        raise Invalid(
            f"view {view.name} has no column {unknown[0]}",
            f"it has {', '.join(schema.names)}",
            code="unknown_column",
        )
    columns = Schema(tuple(view.loose.columns[schema.index(name)] for name in values))
    with asked.dictionary.holding():
        words = encode_rows([list(values.values())], columns, asked.dictionary)[:, 0]
    return dict(zip(values, words.tolist(), strict=True))


def row_of(
    view: Definition, values: Mapping[str, object], asked: AskedEpoch, of_past: bool = False
) -> np.ndarray:
    """The words int64[W] of the first row with these values, in JSON's terms. With `of_past`, one that was
    there at any kept epoch may be meant. Raises NotFound or Invalid."""
    wish = wish_of(view, values, asked)
    places, known = [view.schema.index(name) for name in wish], np.array(list(wish.values()), np.int64)
    relation = asked.snapshot.relations[view.name]
    words = relation.delta()[:-2] if of_past else asked.snapshot.rows(view.name, asked.epoch)[0]
    fits = np.flatnonzero((words[places] == known[:, np.newaxis]).all(axis=0))
    if not len(fits):
        when = "at any epoch that is kept" if of_past else f"at epoch {asked.epoch}"
        raise NotFound(
            f"view {view.name} has no such row {when}", "why-not says what it lacks", code="unknown_row"
        )
    return np.ascontiguousarray(words[:, fits[0]])


def answered(about: str, caller: Caller, work: Callable[[Spending], T]) -> T:
    """The result of the work, which ends if its caller leaves. Raises Invalid if it takes too much."""

    def attended(spending: Spending) -> T:
        with caller.ending(spending.stop):
            return work(spending)

    try:
        return allowed(about, attended)
    except BuildCancelled:
        caller.check()
        raise Unavailable("the explanation was cancelled", code="shutting_down") from None


def allowed(about: str, work: Callable[[Spending], T]) -> T:
    """The result of the work. Raises Invalid if it takes too much."""
    try:
        return work(Spending(_ALLOWANCE))
    except OverBudget as error:
        raise Invalid(
            f"the explanation of {about} takes too much: {error.message}",
            "explain a row of a view that reads fewer rows, or one of the views that it reads",
            code="explanation_too_large",
        ) from None
