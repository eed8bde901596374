"""Workloads: tables, views over them in SQL, a load, and changes that replace rows.

A workload owns the current rows of its tables in numpy, so that a change can pick existing rows; the engine
and DuckDB are both fed from there. Two instances of one size make the same changes in the same order: to
replay a run, build it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bench.data import insertion
from engine.plan.nodes import Node
from engine.schema import BIGINT, Column, Schema

Deltas = dict[str, np.ndarray]
LOAD = 0
"""The batch of a line that is no round but the load."""


@dataclass(frozen=True)
class Phase:
    """`rounds` rounds, each of which replaces `batch` rows in one epoch; with `between`, every other round
    replaces so many instead."""

    batch: int
    rounds: int
    between: int | None = None

    def size(self, number: int) -> int:
        """The rows that a round replaces, by its number."""
        return self.batch if self.between is None or number % 2 == 0 else self.between


@dataclass(frozen=True)
class View:
    """A view's name and its SQL, which the planner and DuckDB both understand.

    With `binary`, multijoins of the planner are rewritten as binary joins. With `plan`, the engine computes
    that plan, which SQL cannot express, and `sql` is the nearest query. The answers must agree in the first
    `compared` columns, in all if None. No change reaches an `idle` view, so nothing recomputes it.
    """

    name: str
    sql: str
    binary: bool = False
    plan: Node | None = None
    compared: int | None = None
    idle: bool = False


class Workload(Protocol):
    title: str
    schemas: dict[str, Schema]
    views: tuple[View, ...]
    phases: tuple[Phase, ...]
    tables: dict[str, np.ndarray]

    def change(self, batch: int, epoch: int) -> Deltas:
        """Replace `batch` random rows of the tables; returns the deltas."""


def integers(*names: str) -> Schema:
    """A schema of BIGINT columns without NULLs."""
    return Schema(tuple(Column(name, BIGINT, nullable=False) for name in names))


def load(workload: Workload, epoch: int) -> Deltas:
    """The insertion of every row that the tables hold now."""
    return {name: insertion(words, epoch) for name, words in workload.tables.items()}


def rows(workload: Workload) -> int:
    return sum(words.shape[1] for words in workload.tables.values())
