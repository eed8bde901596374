"""The time of building a view: what its operators take, and what comes before and after them.

A view that reads little is built on a thread of the service. Any other is built in a process of its own,
which starts, reads all texts and the rows of the sources, and writes files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter

import numpy as np

from engine.costs.machine_constants import machine_constants
from engine.costs.view_cost import BuildTime
from engine.state.dictionary import Dictionary
from engine.state.snapshot import RelationSnapshot

_TEXTS = 200_000
"""Texts from which it is known what a text takes: more than the processor's caches hold."""
_ROWS = 200_000
"""Rows from which it is known what a word takes."""


def build_time(
    relations: Iterable[RelationSnapshot],
    operators: float,
    states: int,
    dictionary: Dictionary,
    process: Callable[[], float] | None,
) -> BuildTime:
    """The time of building a view over these sources, whose operators take so many seconds and of which so
    many keep something; `process` tells what its process takes anyhow, if it is built in one."""
    reading = sum(map(_reading, relations))
    if process is None:
        return BuildTime(0.0, reading, operators, 0.0)
    constants = machine_constants()
    slow = constants.slowness
    begin = process() + _a_text(dictionary) * len(dictionary) * slow
    return BuildTime(begin, reading * slow, operators * slow, constants.flush * states)


def _reading(relation: RelationSnapshot) -> float:
    """The seconds of reading all of a source."""
    rows = sum(map(len, relation.batches))
    batch = max(relation.batches, key=len, default=None)
    if batch is None or not rows:
        return 0.0
    few = min(len(batch), _ROWS)
    width = len(relation.order)
    columns = [*relation.positions.tolist(), width, width + 1]
    start = perf_counter()
    np.ascontiguousarray(batch[:few, columns].T)
    return (perf_counter() - start) * rows / few


def _a_text(dictionary: Dictionary) -> float:
    """The seconds that a process takes for one of the texts."""
    few = min(len(dictionary), _TEXTS)
    if not few:
        return 0.0
    words, texts = dictionary.slice(0, few)
    start = perf_counter()
    Dictionary().absorb(words, texts)
    return (perf_counter() - start) / few
