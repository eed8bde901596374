"""Settings of views: what one may use while it is built, and in an epoch; and the threads that compute them.

`service/settings/settings.py` reads them together with all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.parallel.threads import available
from engine.operators.allowance import Allowance
from engine.processes.job_process import ProcessLimits
from planner.statements.view_budgets import ViewBudget
from service.settings.doors import setting


@dataclass(frozen=True)
class BuildSettings:
    threads: int = setting(
        0,
        "FRESHET_THREADS",
        "threads that compute what follows from a large change, and as many in each process that builds a "
        "view; 0: one for each core",
    )
    builds: int = setting(
        2, "FRESHET_BUILDS", "large views that are built at a time, each in a process of its own"
    )
    builds_waiting: int = setting(
        100, "FRESHET_BUILDS_WAITING", "views that may be in building; more get 429"
    )
    replacements: int = setting(
        16, "FRESHET_REPLACEMENTS", "replacements of views that there may be; one more gets 429"
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
    budget_memory: int = setting(
        0, "FRESHET_BUDGET_MEMORY", "bytes that a new view may keep, by its estimate; 0: any number"
    )
    budget_seconds: int = setting(
        0,
        "FRESHET_BUDGET_SECONDS",
        "seconds that building a new view may take, by its estimate; 0: any number",
    )
    budget_milliseconds: int = setting(
        0,
        "FRESHET_BUDGET_MILLISECONDS",
        "milliseconds that a bad change of one row may take for a new view, by its estimate; 0: any number",
    )
    view_milliseconds: int = setting(
        400,
        "FRESHET_VIEW_MILLISECONDS",
        "milliseconds of processor time that an operator of a view, such as a recursion, may take for "
        "an epoch, and 20 more for each thousand changes; a view that needs more is built again beside the "
        "writer",
    )
    view_rows: int = setting(
        5_000_000,
        "FRESHET_VIEW_ROWS",
        "most rows that an operator of a view may make for an epoch, and 100 more for each change",
    )
    view_bytes: int = setting(
        1 << 30,
        "FRESHET_VIEW_BYTES",
        "most bytes of rows that an operator of a view may make for an epoch, and 10,000 more for each "
        "change",
    )

    @property
    def view_allowance(self) -> Allowance:
        """What an operator may use for an epoch in the writer's turn. All together may take a third more."""
        seconds = self.view_milliseconds / 1000
        return Allowance(seconds, self.view_rows, self.view_bytes, seconds * 4 / 3)

    @property
    def view_budget(self) -> ViewBudget:
        """What every new view may cost."""
        return ViewBudget(
            self.budget_memory or None, self.budget_seconds or None, self.budget_milliseconds or None
        )

    @property
    def build_allowance(self) -> Allowance:
        """What an operator may use while a view is built."""
        return Allowance(self.build_seconds)

    @property
    def build_limits(self) -> ProcessLimits:
        """The limits of a process that builds a view."""
        return ProcessLimits(self.build_memory, self.build_allowance, self.kernel_threads)

    @property
    def kernel_threads(self) -> int:
        """The number of threads, at least one, that run kernels in a process."""
        return self.threads or available()
