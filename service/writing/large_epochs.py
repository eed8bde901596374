"""Large epochs: computed beside the writer, which only begins them and lets them join.

  begin     on the writer's thread: the tables are still the ones that were checked; the state is noted
  compute   on the caller's thread, or on Spark: keys, rows and views, while small epochs go on
  catch up  with these epochs; what is done is written to files, for an epoch a little ahead
  join      on the writer's thread: the last small changes; all epochs up to that one are made at once

If another request changes a row that a large one names, or a view that it reaches is created, it begins
anew. After `_ATTEMPTS`, and if a view fails, it takes the writer's turn like a small one. There may be
several side advances at a time: to each, what the others make is a change like any.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from engine.runtime.engine import Engine
from engine.runtime.side_advance import Outdated, SideAdvance, ViewLost
from engine.runtime.side_files import SideFiles
from engine.state.store.directory import StateDirectory
from service.changes.table_changes import Applied
from service.writing.epochs import Epochs
from service.writing.large_changes import Check, LargeChange

_ATTEMPTS = 3
_PASSES = 20
"""Times that a side advance catches up before the writer does the rest, however much that is."""
_LITTLE = 1_000
"""Differences that the writer may read itself when a side advance joins."""
_JOINS = 6
"""Times that an advance is written for an epoch that passes before it joins; then the writer writes it."""

Call = Callable[[Callable[[], Any]], Any]
"""Runs a job on the writer's thread and returns the result."""


class LargeEpochs:
    def __init__(
        self, engine: Engine, epochs: Epochs, directory: StateDirectory, shards: int, call: Call
    ) -> None:
        self._engine = engine
        self._epochs = epochs
        self._directory = directory
        self._shards = shards
        self._call = call

    def make(self, change: LargeChange, check: Check) -> Applied:
        """Makes a change one epoch. Blocks; not for the writer's thread. Whatever it raises, nothing was
        changed."""
        for _ in range(_ATTEMPTS):
            check()
            try:
                applied = self._attempt(change, check)
            except Outdated:
                continue
            except ViewLost:
                break
            if applied is not None:
                return applied
        check()
        return self._call(change.in_turn)  # type: ignore[no-any-return]

    def _attempt(self, change: LargeChange, check: Check) -> Applied | None:
        """One attempt; None if the change has to be judged again."""
        with ExitStack() as ending:
            begun: Applied | tuple[SideAdvance, str] = self._call(lambda: self._begin(change, ending))
            if isinstance(begun, Applied):
                return begun
            aside, prefix = begun
            change.compute(aside, prefix, check)
            check()
            self._spill(prefix)
            files = SideFiles(aside, self._directory.prefixed(prefix), self._shards)
            ahead = 0
            for _ in range(_JOINS):
                check()
                if not self._catch_up(change, aside):
                    return None
                files.write(self._epochs.next_alone + ahead)
                applied, passed = self._call(lambda: self._join(change, aside, files, False))
                if not passed:
                    return applied  # type: ignore[no-any-return]
                ahead = 2 * passed
            applied, _ = self._call(lambda: self._join(change, aside, files, True))
            return applied  # type: ignore[no-any-return]

    def _catch_up(self, change: LargeChange, aside: SideAdvance) -> bool:
        """Brings a side advance so near to the newest epoch that the writer can do the rest."""
        for _ in range(_PASSES):
            read = change.catch_up(aside, self._engine.snapshot)
            if read is None:
                return False
            if read <= _LITTLE:
                break
        return True

    def _spill(self, prefix: str) -> None:
        """Writes to files what the engine has in memory, so that the writer need not do it for the join."""
        capture = self._call(self._engine.capture)
        try:
            spill = capture.write(self._directory.prefixed(prefix), self._shards)
        except BaseException:
            self._call(lambda: self._engine.release(capture))
            raise
        self._call(lambda: self._engine.install(spill))

    # On the writer's thread

    def _begin(self, change: LargeChange, ending: ExitStack) -> Applied | tuple[SideAdvance, str]:
        """A side advance, and the prefix of its files; or the answer, if the change was made before."""
        known = change.begin()
        if known is not None:
            return known
        aside = self._engine.begin_aside(*change.tables)
        ending.callback(lambda: self._call(lambda: self._engine.discard(aside)))
        return aside, ending.enter_context(self._directory.reserving(aside.files()))

    def _join(
        self, change: LargeChange, aside: SideAdvance, files: SideFiles, at_once: bool
    ) -> tuple[Applied | None, int]:
        """The change as made, None if it has to be judged again; and by how many epochs it came too late to
        be made. `at_once` writes it for the next epoch, whatever that costs."""
        passed = self._epochs.next_alone - files.epoch
        if passed > 0 and not at_once:
            return None, passed
        self._epochs.be_on_time()
        if change.catch_up(aside, self._engine.snapshot) is None:
            return None, 0
        if at_once:
            files.write(self._epochs.next_alone)
        return change.join(aside, files), 0
