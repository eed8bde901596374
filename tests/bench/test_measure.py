from __future__ import annotations

import os
import time
from mmap import PAGESIZE, mmap

import pytest

from bench import measure
from bench.measure import Share, Timing

MEGABYTE = 1 << 20


def test_timing_takes_the_nearest_rank() -> None:
    timing = Timing.of([number * 1_000_000 for number in range(1, 1_001)])
    assert timing.median == pytest.approx(0.5005)
    assert timing.p99 == pytest.approx(0.990)
    assert timing.total == pytest.approx(500.5)
    assert timing.count == 1_000


def test_of_few_durations_the_99th_percentile_is_the_greatest() -> None:
    assert Timing.of([3_000_000_000, 1_000_000_000, 2_000_000_000]).p99 == 3.0


def test_the_peak_remembers_what_was_freed_until_it_is_reset() -> None:
    measure.release_memory()
    before = measure.resident()
    with mmap(-1, 64 * MEGABYTE) as block:  # an array may get a hole of the heap, and leave its pages there
        for page in range(0, len(block), PAGESIZE):
            block[page] = 1
    assert measure.peak() - before > 60 * MEGABYTE
    assert measure.resident() - before < 32 * MEGABYTE
    measure.reset_peak()
    assert measure.peak() - before < 32 * MEGABYTE


def test_an_unknown_process_is_an_error() -> None:
    with pytest.raises(OSError):
        measure.resident(2**22 + 1)


def test_what_this_process_does_is_not_the_work_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Share(at=100.0, machine=50.0, own=10.0)
    monkeypatch.setattr(Share, "now", staticmethod(lambda: Share(at=110.0, machine=65.0, own=20.0)))
    assert start.others() == pytest.approx(0.5)


def test_the_machine_is_as_busy_as_this_process_at_least() -> None:
    before = Share.now()
    while Share.now().own - before.own < 0.2:
        sum(range(10_000))
    after = Share.now()
    assert after.machine - before.machine > 0.1
    assert before.others() >= 0


def test_clock_runs_the_action() -> None:
    done: list[int] = []
    assert measure.clock(lambda: done.append(1)) >= 0
    assert done == [1]


def test_processor_time_is_that_of_the_process() -> None:
    before = measure.busy(os.getpid())
    while time.process_time() < before + 0.2:
        sum(range(1000))
    assert measure.busy(os.getpid()) == pytest.approx(time.process_time(), abs=0.1)


def test_anonymous_memory_is_a_part_of_what_is_resident() -> None:
    assert 0 < measure.anonymous() < measure.resident()
