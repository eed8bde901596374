"""Interesting times: the cost of a reduce of one group for each time at which its output changes.

After Frank McSherry's examples: times have two coordinates, a group has old times, and new ones arrive. Its
output may change at every least upper bound of some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bench.curves.base import Axis, Curve, Plot, Points, advance
from bench.data import SEED
from engine.api import Dataflow, Input, Output

Times = tuple[np.ndarray, np.ndarray]
"""Old and new times, each int64[n, 2]."""


@dataclass(frozen=True)
class Size:
    """The lengths of the chains, and of a side of the grid."""

    chains: tuple[int, ...]
    grids: tuple[int, ...]


FULL = Size((1_000, 10_000, 100_000, 1_000_000), (30, 100, 300, 1_000, 2_000))
QUICK = Size((10, 30), (3, 6))
KEPT = 0.5
"""The fraction of times that stays when some are dropped."""


def measure(size: Size) -> Curve:
    lines: dict[str, Points] = {}
    shapes: tuple[tuple[str, Callable[[int], Times], tuple[int, ...]], ...] = (
        ("chains", _chains, size.chains),
        ("grid", _grid, size.grids),
    )
    for name, shape, lengths in shapes:
        for suffix, kept in (("", 1.0), (", half dropped", KEPT)):
            lines[name + suffix] = [_point(*_dropped(shape(length), kept)) for length in lengths]
    return Curve(
        "Interesting times",
        "A count of one group, at times (version, epoch). Chains: old times (0, 0) to (0, i), and new "
        "ones (1, 0) to (1, i). Grid: old (0, 0) to (0, i), new (1, 0) to (i, 0), which produce about i² "
        "times. A level line means that the work is in proportion to the times that are produced.",
        (
            Plot(
                "time for each time produced",
                Axis("times produced"),
                Axis("time for each of them", "s"),
                lines,
            ),
        ),
    )


def _chains(length: int) -> Times:
    along = np.arange(length + 1)
    return np.stack((along * 0, along), axis=1), np.stack((along * 0 + 1, along), axis=1)


def _grid(length: int) -> Times:
    old, _ = _chains(length)
    return old, old[1:, ::-1]


def _dropped(times: Times, kept: float) -> Times:
    """The times without random ones; the first of each stays."""
    rng = np.random.default_rng(SEED)
    old, new = (some[(rng.random(len(some)) < kept) | (np.arange(len(some)) == 0)] for some in times)
    return old, new


def _point(old: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """How many times the new ones produce, and the seconds for each of them."""
    flow = Dataflow("version", "epoch")
    rows = flow.input("rows", key=int, value=int)
    output = flow.output(rows.count("key"))
    _load(rows, old)
    flow.advance((1, 0))
    before = _produced(output)
    _load(rows, new)
    took = advance(flow, (int(new[:, 0].max()) + 1, 0))
    produced = _produced(output) - before
    return produced, took / produced / 1e9


def _load(rows: Input, times: np.ndarray) -> None:
    """Load a row of the one group at each of the times."""
    values = np.arange(len(times))
    rows.load(pa.table([values * 0, values], names=["key", "value"]), time=times)


def _produced(output: Output) -> int:
    """The number of times at which the output changes."""
    return len(np.unique(output.flow.engine.snapshot.differences(output.name)[-2]))
