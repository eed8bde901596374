"""Figures: what each system has done in each line of the table, and the table itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from bench.measure import Timing
from bench.table import NOTHING, Row, duration, markdown
from bench.wire.generator import Driven
from bench.wire.systems import FRESHET, POSTGRES, System

HEADER = (
    "what",
    "system",
    "a second",
    "processor time each",
    "median",
    "99th pct",
    "rate against PostgreSQL",
    "goal",
)


@dataclass
class Figure:
    """What one system has done, over all turns: its operations, their nanoseconds where each was timed, and
    seconds of the clock, of the server's processors and of the client's."""

    operations: int = 0
    taken: list[int] = field(default_factory=list)
    elapsed: float = 0.0
    server: float = 0.0
    client: float = 0.0

    @property
    def rate(self) -> float:
        return self.operations / self.elapsed


@dataclass
class Line:
    """One line of the table by system. A `latency` has no rate: its client waits between its operations."""

    goal: str = ""
    is_latency: bool = False
    by_system: dict[str, Figure] = field(default_factory=dict)


Figures = dict[str, Line]


@dataclass(frozen=True)
class Taking:
    """Notes what one system does."""

    system: System
    figures: Figures

    @contextmanager
    def noting(self, name: str, goal: str = "", is_latency: bool = False) -> Iterator[Figure]:
        """The figure, to which the server's processor time is added in the end."""
        line = self.figures.setdefault(name, Line(goal, is_latency))
        figure = line.by_system.setdefault(self.system.name, Figure())
        before = self.system.processor
        yield figure
        figure.server += self.system.processor - before

    def driven(
        self, name: str, found: Callable[[], Driven], goal: str = "", is_latency: bool = False
    ) -> None:
        """Notes what a client in a process of its own has done."""
        with self.noting(name, goal, is_latency) as figure:
            driven = found()
            figure.taken += driven.taken
            figure.operations += len(driven.taken)
            figure.elapsed += driven.elapsed
            figure.client += driven.client

    def copied(self, name: str, rows: int, copy: Callable[[], object], goal: str = "") -> None:
        """Notes a COPY of so many rows."""
        with self.noting(name, goal) as figure:
            start = perf_counter()
            copy()
            figure.elapsed += perf_counter() - start
            figure.operations += rows


def table(figures: Figures) -> str:
    """The figures as a table in Markdown."""
    rows = [_row(name, line, system) for name, line in figures.items() for system in line.by_system]
    return markdown(rows, HEADER)


def _row(name: str, line: Line, system: str) -> Row:
    figure, other = line.by_system[system], line.by_system.get(POSTGRES)
    timing = Timing.of(figure.taken) if figure.taken else None
    is_compared = system == FRESHET and other is not None and not line.is_latency
    return (
        name,
        system,
        NOTHING if line.is_latency else f"{figure.rate:,.0f}",
        duration(figure.server / figure.operations),
        NOTHING if timing is None else duration(timing.median),
        NOTHING if timing is None else duration(timing.p99),
        f"{figure.rate / other.rate:.2f}" if is_compared and other is not None else NOTHING,
        line.goal if system == FRESHET and line.goal else NOTHING,
    )
