"""The memory of a job's process: what nobody reads does not count."""

from __future__ import annotations

import resource

import pytest

from engine.processes.job_process import spare
from engine.runtime.execution import Stored
from engine.state.store.files import BatchFile

FILES = tuple(
    BatchFile(name, rows, columns=5, key=1, size=1, checksum=0) for name, rows in (("a", 7), ("b", 3))
)
STORED = Stored(FILES, (0, 1, 2, 3, 4))
"""Ten rows of three columns, epoch and diff."""
MOST, ENDLESS = 1000, resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("limits", "wanted", "expected"),
    [
        ((MOST, ENDLESS), frozenset({1}), (MOST + 2 * 10 * 8, ENDLESS)),
        ((MOST, ENDLESS), frozenset({0, 1, 2}), (MOST, ENDLESS)),
        ((MOST, MOST + 100), frozenset({1}), (MOST + 100, MOST + 100)),
        ((MOST, ENDLESS), None, None),
        ((ENDLESS, ENDLESS), frozenset({1}), None),
    ],
    ids=["two unread", "none unread", "the system's limit", "all are read", "no limit"],
)
def test_the_limit_rises_by_what_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
    limits: tuple[int, int],
    wanted: frozenset[int] | None,
    expected: tuple[int, int] | None,
) -> None:
    said: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda what: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda what, limit: said.append(limit))
    spare(STORED, wanted)
    assert said == ([] if expected is None else [expected])
