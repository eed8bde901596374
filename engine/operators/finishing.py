"""Finishing aggregates that the kernels do not: those of wide numbers, and sums that overflow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.kernels.reduce import FINISH, WIDE
from engine.operators.failure_log import FailureLog
from engine.operators.operator import Step
from engine.operators.slots import Finish, finished


class Finished(NamedTuple):
    """Aggregates with times and diffs, [A + 2, n], and the positions of their input lines, int64[n]."""

    delta: np.ndarray
    places: np.ndarray


class Finishing:
    """How a reduce's aggregates follow from its slots; `labels` name the aggregates in messages."""

    def __init__(self, finish: tuple[Finish, ...], labels: tuple[str, ...], failures: FailureLog) -> None:
        self.lines = np.array(finish, np.int64).reshape(-1, FINISH)
        self._labels = labels
        self._failures = failures

    def finished(self, lines: np.ndarray, times: np.ndarray, step: Step) -> Finished:
        """The results of those lines [n, L] of `reduce_sums` that are not FINE, at `times` int64[n].

        A sum that overflows becomes an error of the failure log instead.
        """
        messages: list[str] = []
        failed: list[int] = []
        places: list[int] = []
        words: list[list[int]] = []
        for place, line in enumerate(lines):
            overflow = int(line[3])
            if overflow == WIDE:
                answer = finished(self.lines, line[4:], self._failures.dictionary)
                if isinstance(answer, list):
                    words.append(answer)
                    places.append(place)
                    continue
                overflow = answer
            messages.append(f"overflow in {self._labels[overflow]}")
            failed.append(place)
        if failed:
            self._failures.add(messages, np.stack((times[failed], lines[failed, 2])), step)
        kept = np.array(places, np.int64)
        results = np.array(words, np.int64).reshape(-1, len(self.lines)).T
        return Finished(np.vstack((results, times[kept], lines[kept, 2])), kept)
