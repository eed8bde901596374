"""Curves: plots of named lines, what they show, and how to read them.

A curve's module measures it: `measure(size)` takes the module's `FULL` or `QUICK` size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from bench.measure import Timing, clock
from engine.api import Dataflow, Input
from engine.state.packed_times import Time

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """An axis in seconds, bytes or multiples, or without a `unit` for counts."""

    label: str
    unit: Literal["s", "B", "×", ""] = ""
    log: bool = True


@dataclass(frozen=True)
class Plot:
    """Lines over one x, each a list of (x, y). A line has no point where nothing was measured."""

    title: str
    x: Axis
    y: Axis
    lines: dict[str, Points]


@dataclass(frozen=True)
class Curve:
    """Plots that belong together. `reading` says how to read them."""

    title: str
    reading: str
    plots: tuple[Plot, ...]


def feed(input: Input, delta: np.ndarray) -> None:
    """Pass a delta int64[W + 2, n] of integers to an input, as an Arrow table."""
    table = pa.table(list(delta[:-2]), names=list(input.schema.names))
    input.load(table, delta[-1], delta[-2])


def advance(flow: Dataflow, *frontier: Time) -> int:
    """Complete all times before `frontier`, by default the current epoch; returns the nanoseconds."""
    return clock(lambda: flow.advance(*frontier))


def median(nanoseconds: list[int]) -> float:
    """The median in seconds."""
    return Timing.of(nanoseconds).median
