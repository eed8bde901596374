"""The cost of a view: rows, bytes and time of each operator, and what a change of each source takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.runtime.observation import Observed


@dataclass(frozen=True)
class OperatorCost:
    """Rows `taken`, `rows` passed on, those `kept` in batches of `memory` bytes, the `seconds` of building,
    and the most rows that were passed on for a change of one row. What another view has already takes no
    memory."""

    operator: Observed
    taken: float
    rows: float
    kept: float
    memory: float
    seconds: float
    change_rows: float


@dataclass(frozen=True)
class ChangeCost:
    """What a change of one row takes: the differences that operators pass on, and milliseconds. `median` is
    of a row at random, and `bad` of one of the dearest hundredth, or of a row of the heaviest key."""

    median_rows: float
    bad_rows: float
    median_milliseconds: float
    bad_milliseconds: float


@dataclass(frozen=True)
class BuildTime:
    """Seconds. `process` is for its start and for the texts, and 0 for a view that needs none."""

    process: float
    reading: float
    operators: float
    writing: float

    @property
    def total(self) -> float:
        return self.process + self.reading + self.operators + self.writing


@dataclass(frozen=True)
class ViewCost:
    """What a view would cost that has so many `rows`. `parts` has, by source, which part of its rows was
    read; 1 for all. With `is_least`, the figures are what was seen before the estimate ended, and the view
    costs more.
    """

    rows: float
    operators: tuple[OperatorCost, ...]
    changes: Mapping[str, ChangeCost]
    build: BuildTime
    parts: Mapping[str, float]
    root_part: float
    is_least: bool

    @property
    def memory(self) -> float:
        """The bytes of what the view alone keeps, in memory until the next checkpoint, and then in files."""
        return sum(each.memory for each in self.operators)

    @property
    def shared(self) -> tuple[str, ...]:
        """The views with which it would share operators that keep something."""
        names = {name for each in self.operators if each.kept for name in each.operator.shared}
        return tuple(sorted(names))
