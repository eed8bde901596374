"""What clients see of a job: it is done only when its rows can be read, and known while it runs."""

from __future__ import annotations

from threading import Event
from time import sleep

from service.pipeline.job_runs import JobRun, Runner
from service.pipeline.jobs import DONE, FAILED, RUNNING, Job, as_visible


def test_a_job_is_done_when_its_epoch_is_visible() -> None:
    job = Job.new("load", {}).ended(DONE, epoch=7, rows=3, skipped=1)
    waiting = as_visible(job, 7)
    assert (waiting.state, waiting.epoch, waiting.rows, waiting.ended_at) == (RUNNING, None, None, None)
    assert as_visible(job, 8) == job


def test_what_has_no_epoch_is_told_as_it_is() -> None:
    for job in (Job.new("load", {}), Job.new("load", {}).ended(FAILED)):
        assert as_visible(job, 1) == job


class _Outcomes:
    """Keeps what a runner stores."""

    def __init__(self) -> None:
        self.known: dict[str, Job] = {}

    def add(self, job: Job) -> None:
        self.known[job.id] = job

    update = add


def test_a_job_that_runs_or_waits_is_known_without_the_catalog() -> None:
    outcomes, begun, go_on = _Outcomes(), Event(), Event()
    runner = Runner(outcomes, lambda error: error)  # type: ignore[arg-type]

    def work(run: JobRun) -> Job:
        begun.set()
        assert go_on.wait(60)
        return run.job.ended(DONE, rows=1)

    first, second = Job.new("load", {}), Job.new("export", {})
    for job in (first, second):
        runner.submit(JobRun(job, work))
    assert begun.wait(60)
    running = runner.running("load", first.id)
    assert running is not None and running.state == RUNNING and running.started_at is not None
    assert runner.running("export", second.id) == second
    assert runner.running("export", first.id) is None and runner.running("load", "0") is None
    go_on.set()
    while runner.running("load", first.id) or runner.running("export", second.id):
        sleep(0.001)
    assert [outcomes.known[job.id].state for job in (first, second)] == [DONE, DONE]
    runner.close()
