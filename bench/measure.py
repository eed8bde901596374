"""Clocks, percentiles, memory, and the share of the machine that other work used.

Memory is the resident set as Linux counts it in /proc. `release_memory` returns unused heap first, so that a
baseline does not include memory that the next allocation would reuse.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RESET_PEAK = "5"
WARM = 1 << 31
"""Bytes of memory to touch before a run; half of the free memory if that is less."""


@dataclass(frozen=True)
class Timing:
    """Durations in seconds: median, 99th percentile (nearest rank), sum, and their number; and the processor
    seconds of all of them, 0 if nobody counted."""

    median: float
    p99: float
    total: float
    count: int
    processor: float = 0

    @property
    def processor_each(self) -> float:
        """The processor seconds of one of them."""
        return self.processor / self.count

    @staticmethod
    def of(nanoseconds: list[int], processor: float = 0) -> Timing:
        seconds = np.array(nanoseconds, np.float64) / 1e9
        p99 = np.quantile(seconds, 0.99, method="inverted_cdf")
        return Timing(float(np.median(seconds)), float(p99), float(seconds.sum()), len(seconds), processor)


class Meter:
    """Takes rounds: the nanoseconds that each says it took, and the processor time of this process."""

    def __init__(self) -> None:
        self._taken: list[int] = []
        self._processor = 0

    def add(self, action: Callable[[], int]) -> None:
        start = time.process_time_ns()
        self._taken.append(action())
        self._processor += time.process_time_ns() - start

    @property
    def timing(self) -> Timing:
        return Timing.of(self._taken, self._processor / 1e9)


def clock(action: Callable[[], object]) -> int:
    """The nanoseconds that `action` takes."""
    start = time.perf_counter_ns()
    action()
    return time.perf_counter_ns() - start


def release_memory() -> None:
    """Collect garbage, and return unused C heap to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def warm() -> None:
    """Touch memory and free it. A virtual machine has to ask its host for memory that it never used, which
    takes longer than most of what is measured here."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    np.empty(min(WARM, free // 2), np.uint8)[:: os.sysconf("SC_PAGE_SIZE")] = 1


def resident(process: int | None = None) -> int:
    """The bytes of memory that the process (this one if None) holds now."""
    return _status("VmRSS", process)


def anonymous(process: int | None = None) -> int:
    """The bytes of `resident` that are in no file: Linux cannot drop them and read them again."""
    return _status("RssAnon", process)


def mapped(process: int | None = None) -> int:
    """The bytes of `resident` that are pages of files."""
    return _status("RssFile", process)


def busy(process: int) -> float:
    """The processor seconds that the process has used since it began."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")


def busy_with_children(process: int) -> float:
    """The same, with the processes that it has started, and those that they have."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
    family, waiting = set[int](), {process}
    while waiting:
        family |= waiting
        waiting = {child for child, parent in parents.items() if parent in waiting} - family
    return sum(map(busy, family))


def peak(process: int | None = None) -> int:
    """The most bytes that the process has held since it started or since `reset_peak`."""
    return _status("VmHWM", process)


def reset_peak(process: int | None = None) -> None:
    """Restart `peak` from what the process holds now."""
    Path(f"/proc/{process or 'self'}/clear_refs").write_text(RESET_PEAK)


@dataclass(frozen=True)
class Share:
    """Processor seconds of all cores, and of this process with its ended children, up to one moment."""

    at: float
    machine: float
    own: float

    @staticmethod
    def now() -> Share:
        user, nice, system, _, _, *rest = map(int, Path("/proc/stat").read_text().split()[1:9])
        machine = (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")
        return Share(time.monotonic(), machine, sum(os.times()[:4]))

    def others(self) -> float:
        """How many cores other work has kept busy since, on average."""
        now = Share.now()
        return max(0.0, (now.machine - self.machine - now.own + self.own) / (now.at - self.at))


def _status(field: str, process: int | None) -> int:
    for line in Path(f"/proc/{process or 'self'}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise OSError(f"/proc has no {field} of process {process or 'self'}")
