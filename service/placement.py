"""Placement: whether an advance runs in this process or in supersteps on Spark.

An exchange between Spark's tasks costs tens of milliseconds, whatever its size, and goes through files. So
the process computes what its memory has room for, and Spark computes larger advances if it is available.
FRESHET_SPARK_ROWS can say from how many incoming rows on Spark computes instead.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.runtime.building import Building
from engine.runtime.execution import Executor
from engine.spark.sessions import Sessions
from engine.spark.transport import SparkTransport
from engine.state.store.directory import StateDirectory
from engine.supersteps.executor import SuperstepExecutor
from engine.supersteps.spec import SuperstepLimits
from service.settings.settings import Settings


class Where(enum.StrEnum):
    """`FRESHET_SPARK`: Spark runs what is large, all that it can, or only what it has to read."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass
class Tally:
    """How many advances ran in the process and on Spark, and the reason for the last choice."""

    process: int = 0
    spark: int = 0
    reason: str = ""


@dataclass
class Placement:
    """Decides where advances run. Any thread may ask."""

    settings: Settings
    sessions: Sessions
    directory: StateDirectory
    is_here_only: bool = False
    """Whether nothing may go to Spark, because only a leader writes files."""
    tally: Tally = field(default_factory=Tally)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def executor(self, rows: int, words: int, memory: int = 0) -> Executor | None:
        """The executor for an advance with so many incoming rows, of so many `words`; None runs it here.

        `memory`: the bytes that the work may have here; 0: as many as this process.
        """
        where = Where(self.settings.spark)
        if self.is_here_only:
            self._here("a standby computes in its process")
            return None
        if where is Where.NEVER:
            self._here("FRESHET_SPARK is never")
            return None
        if where is Where.AUTO and self.settings.has_room(rows, words, memory):
            self._here(f"{rows} rows, for which there is room")
            return None
        self._there(f"{rows} rows" if where is Where.AUTO else "FRESHET_SPARK is always")
        return self._executor()

    def for_deltas(self, deltas: Mapping[str, np.ndarray]) -> Executor | None:
        """The executor for the advance of an epoch, or of several."""
        rows = sum([delta.shape[1] for delta in deltas.values()])
        return self.executor(rows, sum([delta.size for delta in deltas.values()]))

    def for_build(self, building: Building) -> Executor | None:
        """The executor for what a process of its own builds otherwise."""
        ground = building.ground
        return self.executor(ground.rows, ground.words, self.settings.build_memory)

    def for_scan(self, tag: str) -> Executor:
        """The executor for an advance whose rows Spark reads; `tag` names it for cancellation."""
        self._there("rows that Spark reads")
        return self._executor().tagged(tag)

    def declined(self, reason: str) -> None:
        """Corrects the tally: an advance that was placed on Spark ran in the process."""
        with self._lock:
            self.tally.spark -= 1
        self._here(reason)

    def _here(self, reason: str) -> None:
        with self._lock:
            self.tally.process += 1
            self.tally.reason = reason

    def _there(self, reason: str) -> None:
        with self._lock:
            self.tally.spark += 1
            self.tally.reason = reason

    def _executor(self) -> SuperstepExecutor:
        settings = self.settings
        limits = SuperstepLimits(settings.spark_solo_rows, settings.spark_rounds)
        transport = SparkTransport(self.sessions)
        return SuperstepExecutor(self.directory, settings.scratch, transport, settings.shards, limits)
