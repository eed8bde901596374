"""Where an advance is computed: in this process, or in supersteps on Spark.

An exchange of messages between Spark's tasks costs tens of milliseconds, whatever they say: what is
small is computed here. What is larger than a setting, by the rows that come in, goes to Spark if there is
one; what Spark has to read itself always does.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from engine.runtime.execution import Executor
from engine.spark.sessions import Sessions
from engine.spark.transport import SparkTransport
from engine.state.store.directory import StateDirectory
from engine.supersteps.executor import SuperstepExecutor
from engine.supersteps.spec import SuperstepLimits
from service.settings.settings import Settings


class Where(enum.StrEnum):
    """`FRESHET_SPARK`: by size, everything that can be, or nothing but what Spark has to read."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass
class Tally:
    """How often something was computed here and on Spark, and why the last time so."""

    process: int = 0
    spark: int = 0
    reason: str = ""


@dataclass
class Placement:
    """`tally` is the writer thread's."""

    settings: Settings
    sessions: Sessions
    directory: StateDirectory
    tally: Tally = field(default_factory=Tally)

    def executor(self, rows: int) -> Executor | None:
        """Who computes an advance into which so many rows come; None is this process."""
        where = Where(self.settings.spark)
        most = self.settings.spark_rows
        if where is Where.NEVER:
            self._here("FRESHET_SPARK is never")
            return None
        if where is Where.AUTO and rows < most:
            self._here(f"{rows} rows, fewer than {most}")
            return None
        self.tally.spark += 1
        self.tally.reason = f"{rows} rows" if where is Where.AUTO else "FRESHET_SPARK is always"
        return self._executor()

    def for_scan(self, tag: str) -> Executor:
        """Who computes an advance whose rows Spark reads; `tag` ends it."""
        self.tally.spark += 1
        self.tally.reason = "rows that Spark reads"
        return self._executor().tagged(tag)

    def declined(self, reason: str) -> None:
        """What was placed on Spark was computed here."""
        self.tally.spark -= 1
        self._here(reason)

    def _here(self, reason: str) -> None:
        self.tally.process += 1
        self.tally.reason = reason

    def _executor(self) -> SuperstepExecutor:
        settings = self.settings
        limits = SuperstepLimits(settings.spark_solo_rows, settings.spark_rounds)
        transport = SparkTransport(self.sessions)
        return SuperstepExecutor(self.directory, settings.scratch, transport, settings.shards, limits)
