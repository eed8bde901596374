"""The timeline of a branch: its epochs, made by a writer of its own and durable in a log of its own.

A live one has the epochs of its parent too (`live_following.py`). What a branch holds besides its parent's
state is limited. A view that needs more for an epoch than it may fails on the branch alone.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from service.catalog.branch_log import BranchLog
from service.catalog.branch_records import BranchRecord, MergedEpochs
from service.catalog.catalog import Receipt
from service.changes.table_changes import Applied
from service.definitions.readable import Readable
from service.errors import Conflict
from service.metrics import Metrics
from service.reading.lanes import Lane
from service.reading.reads import Reader
from service.running.branches.branch_state import Parting, branch_state
from service.running.branches.followed_epochs import FollowedEpochs
from service.running.branches.live_following import LiveFollowing
from service.running.timeline import EpochTimes, T, Timeline
from service.writing.epochs import Drafted
from service.writing.request import Request
from service.writing.transaction import Transaction
from service.writing.writer import Writer, WriterLimits

_READ_CACHE_PART = 8
"""A branch keeps readings of this part of the bytes that the service keeps."""
_LOOK_SECONDS = 1.0
"""Between two looks at what the branch holds."""


class BranchTimeline(Timeline):
    def __init__(
        self,
        record: BranchRecord,
        parting: Parting,
        parent: Timeline,
        merges: Sequence[MergedEpochs],
        past: Lane,
        judging: Lane,
    ) -> None:
        """Goes on from where its parent was, with the epochs of its log. `merges` are those made so far."""
        metrics = Metrics()
        state = branch_state(record, parting, metrics)
        super().__init__(state, past, judging)
        self.name = record.name
        self.beginning = record.beginning
        self.record = record
        self.parent = parent
        self.parting = parting
        self.merges = tuple(merges)
        """What was merged into the parent. Replaced as a whole."""
        self.reader = Reader(self.dictionary, self.settings.read_cache_bytes // _READ_CACHE_PART)
        self.metrics = metrics
        self._log = BranchLog(state.catalog, record)
        self.followed = FollowedEpochs(record.epoch, self._log.followed() if record.live else ())
        """Which of its epochs are its parent's."""
        self.following: LiveFollowing | None = None
        """What follows its parent, if it is live."""
        self._departed: tuple[float, int] | None = None
        limits = self.settings
        self._own_writer = Writer(
            state.epochs,
            WriterLimits(limits.queue_requests, limits.queue_changes, limits.group_changes),
            self._show,
            self.pulse.beat,
            metrics.queue_seconds,
        )
        self._show()
        self._own_writer.start()
        if record.live:
            self.following = LiveFollowing(self, state, self._log, self.followed, record.beginning)
            self.following.start()

    @property
    def _writer(self) -> Writer:
        return self._own_writer

    @property
    def _times(self) -> EpochTimes:
        return self._log

    def _show(self) -> None:
        """Lets readers see what the writer has done."""
        state = self._state
        for view in state.definitions.set_aside:
            reason = state.engine.snapshot.failure(view)
            state.engine.explain_failure(view, reason or "it needs too much for an epoch of a branch")
        state.definitions.set_aside = set()
        self._readable = Readable(state.engine.snapshot, state.definitions.known)

    @property
    def follows(self) -> int | None:
        """The newest epoch of its parent that a live branch has."""
        return None if self.following is None else self.followed.newest

    # What it holds

    @property
    def departed(self) -> int:
        """The bytes that it holds besides its parent's state, as they were a moment ago."""
        if self._departed is None or time.monotonic() - self._departed[0] > _LOOK_SECONDS:
            return self.measured()
        return self._departed[1]

    def measured(self) -> int:
        """The same as they are now. Costs a look at each operator."""
        size = self._state.engine.departed(self.parting.fork)
        self._departed = time.monotonic(), size
        return size

    def check_size(self) -> None:
        """Raises Conflict if the branch holds as much as it may."""
        most = self.settings.branch_bytes
        if self.departed > most:
            raise Conflict(
                f"branch {self.name} holds {self.departed} bytes of its own, and may hold {most}",
                "merge it, drop it, or raise FRESHET_BRANCH_BYTES",
                code="branch_too_large",
            )

    def _apply(self, request: Request) -> Awaitable[Applied]:
        self.check_size()
        return super()._apply(request)

    async def _settle(self, draft: Drafted[T], receipt: Receipt | None) -> Applied | None:
        if draft.transaction.changes:
            self.check_size()
        return await super()._settle(draft, receipt)

    async def transact(
        self, work: Callable[[Transaction], T], receipt: Receipt | None = None
    ) -> tuple[Applied, T]:
        self.check_size()
        return await super().transact(work, receipt)

    def close(self) -> None:
        """Finishes waiting requests, and takes no more. Blocks."""
        self.closing = True
        self.pulse.beat()
        if self.following is not None:
            self.following.stop()
        self._own_writer.close()
