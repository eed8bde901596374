"""A load is done only when its rows can be read."""

from __future__ import annotations

from service.pipeline.jobs import DONE, FAILED, RUNNING, Job, as_visible


def test_a_job_is_done_when_its_epoch_is_visible() -> None:
    job = Job.new("load", {}).ended(DONE, epoch=7, rows=3, skipped=1)
    waiting = as_visible(job, 7)
    assert (waiting.state, waiting.epoch, waiting.rows, waiting.ended_at) == (RUNNING, None, None, None)
    assert as_visible(job, 8) == job


def test_what_has_no_epoch_is_told_as_it_is() -> None:
    for job in (Job.new("load", {}), Job.new("load", {}).ended(FAILED)):
        assert as_visible(job, 1) == job
