"""Settings of views: what one may use while it is built, and in an epoch.

`service/settings/settings.py` reads them together with all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.operators.allowance import Allowance
from engine.processes.job_process import ProcessLimits
from service.settings.doors import setting


@dataclass(frozen=True)
class BuildSettings:
    builds: int = setting(
        2, "FRESHET_BUILDS", "large views that are built at a time, each in a process of its own"
    )
    builds_waiting: int = setting(
        100, "FRESHET_BUILDS_WAITING", "views that may be in building; more get 429"
    )
    build_rows_here: int = setting(
        20_000,
        "FRESHET_BUILD_ROWS_HERE",
        "most rows that a new view reads to be built without a process of its own",
    )
    build_seconds: int = setting(3_600, "FRESHET_BUILD_SECONDS", "seconds that building a view may take")
    build_memory: int = setting(
        4 << 30, "FRESHET_BUILD_MEMORY", "most bytes of memory for the process that builds a view; 0: any"
    )
    view_seconds: int = setting(
        10,
        "FRESHET_VIEW_SECONDS",
        "seconds that an operator of a view, such as a recursion, may take for an epoch; "
        "a view that needs more fails",
    )
    view_rows: int = setting(
        100_000_000, "FRESHET_VIEW_ROWS", "most rows that an operator of a view may make for an epoch"
    )
    view_bytes: int = setting(
        4 << 30, "FRESHET_VIEW_BYTES", "most bytes of rows that an operator of a view may make for an epoch"
    )

    @property
    def view_allowance(self) -> Allowance:
        """What an operator may use for an epoch."""
        return Allowance(self.view_seconds, self.view_rows, self.view_bytes)

    @property
    def build_limits(self) -> ProcessLimits:
        """The limits of a process that builds a view."""
        return ProcessLimits(self.build_memory, Allowance(self.build_seconds))
