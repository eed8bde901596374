"""Epochs in a batch: one history with ever more epochs, in one advance and in many small ones."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bench.curves.base import Axis, Curve, Plot, Points
from bench.curves.kinds import FAMILIES, KINDS, SLOW, TABLE
from bench.data import SEED
from engine.plan.clocked import CLOCK
from engine.runtime.engine import Engine


@dataclass(frozen=True)
class Size:
    """Of `rows` that exist at a time, each group has `group`; `advances` are the most of a history."""

    changes: int
    rows: int
    group: int
    epochs: tuple[int, ...]
    advances: int


FULL = Size(1_000_000, 10_000, 10, (1, 10, 100, 1_000, 10_000, 100_000), 1_000)
QUICK = Size(2_000, 100, 10, (1, 10, 100), 50)
TENTH = 10
"""What the history of a slow kind is divided by."""


def measure(size: Size) -> Curve:
    at_once: dict[str, Points] = {name: [] for name in KINDS}
    in_small: dict[str, Points] = {name: [] for name in KINDS}
    for name in KINDS:
        changes, rows = size.changes, size.rows
        if name in SLOW:
            changes, rows = changes // TENTH, rows // TENTH
        for epochs in (count for count in size.epochs if count <= changes):
            deltas = {
                TABLE.name: history(changes, rows, rows // size.group, epochs),
                CLOCK.name: ticks(epochs),
            }
            at_once[name].append((epochs, _seconds(name, deltas, epochs, 1)))
            in_small[name].append((epochs, _seconds(name, deltas, epochs, size.advances)))
    x, y = Axis("epochs"), Axis("processor time", "s")
    plots = []
    for family, names in FAMILIES.items():
        for how, lines in (
            ("all epochs in one advance", at_once),
            (f"an advance an epoch, at most {size.advances:,}", in_small),
        ):
            plots.append(Plot(f"{family}: {how}", x, y, {name: lines[name] for name in names}))
    return Curve(
        "Epochs in a batch",
        f"A history of {size.changes:,} insertions and deletions, divided among more and more epochs; a "
        f"tenth of it for {', '.join(SLOW)}. About {size.rows:,} rows exist at a time, {size.group} in each "
        "group. In one epoch all changes cancel. In more, each epoch has a result of its own, so that lines "
        "rise until every change is seen. In one advance a history should cost no more than in small ones, "
        "however many epochs it has. Times are those of the processor, so that threads count in full.",
        tuple(plots),
    )


def history(changes: int, rows: int, keys: int, epochs: int) -> np.ndarray:
    """A delta of `TABLE` in which rows come and go, evenly spread over the epochs and sorted by them.

    About `rows` rows of `keys` keys exist at a time.
    """
    rng = np.random.default_rng(SEED)
    size = changes // 2
    words = np.stack(
        (
            rng.integers(0, keys, size),
            rng.integers(0, 20 * rows // keys, size),
            rng.integers(0, epochs, size),
            rng.normal(size=size).view(np.int64),
        )
    )
    comes = np.arange(size)
    order = np.argsort(np.concatenate((comes, comes + rng.integers(1, 2 * rows, size))), kind="stable")
    delta = np.empty((len(words) + 2, 2 * size), np.int64)
    delta[:-2] = np.tile(words, 2)[:, order]
    delta[-2] = np.arange(2 * size) * epochs // (2 * size)
    delta[-1] = np.repeat((1, -1), size)[order]
    return delta


def ticks(epochs: int) -> np.ndarray:
    """A delta of the clock, which shows each epoch's number."""
    shown = np.arange(epochs)
    delta = np.empty((3, 2 * epochs - 1), np.int64)
    delta[:, 0::2] = shown, shown, np.ones(epochs)
    delta[:, 1::2] = shown[:-1], shown[1:], -np.ones(epochs - 1)
    return delta


def _seconds(name: str, deltas: Mapping[str, np.ndarray], epochs: int, advances: int) -> float:
    """The processor time of a history, in advances of equally many epochs."""
    engine = Engine()
    first = engine.snapshot.upper
    for source in (TABLE, CLOCK):
        engine.create_source(source.name, source.schema, keep=False)
    engine.create_view("view", KINDS[name])
    took = 0
    ends = np.linspace(0, epochs, min(advances, epochs) + 1).astype(int).tolist()
    for start, end in pairwise(ends):
        parts = {source: _between(delta, start, end, first) for source, delta in deltas.items()}
        began = time.process_time_ns()
        stage = engine.stage(parts, first + end)
        stage.publish()
        took += time.process_time_ns() - began
        if stage.failed:
            raise RuntimeError(stage.failed["view"])
    return took / 1e9


def _between(delta: np.ndarray, start: int, end: int, first: int) -> np.ndarray:
    """The changes of a sorted delta at epochs from `start` up to `end`, which are counted from `first`."""
    low, high = np.searchsorted(delta[-2], (start, end))
    part = delta[:, low:high].copy()
    part[-2] += first
    return part
