"""Waiting for a load or an export that the service carries out, with a progress bar on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from freshet.contract.operation_descriptions import JobDescription
from freshet.errors import Error, error_of

J = TypeVar("J", bound=JobDescription)
_PAUSE = 0.25


def finish(job: J, describe: Callable[[str], J], cancel: Callable[[str], J]) -> J:
    """The job once it is done. Raises the Error that it fails with; Ctrl-C cancels it."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(job.id, total=1.0)
        try:
            while job.state == "running":
                time.sleep(_PAUSE)
                job = describe(job.id)
                waiting = "" if job.started else " waits for its turn"
                progress.update(bar, completed=job.progress, description=f"{job.id}{waiting}")
        except KeyboardInterrupt:
            cancel(job.id)
            raise
    if job.state == "failed" and job.error is not None:
        raise error_of(int(job.error.get("status", 500)), job.error)
    if job.state != "done":
        raise Error(f"{job.id} is {job.state}", code="job_ended")
    return job
