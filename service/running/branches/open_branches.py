"""The branches of a service that leads: made, dropped, merged, and restored at its start.

A branch is made beside the writer of its parent, which only notes where it parts. From then on its parent's
tables and views stay as they are defined, and the epochs since are kept. One thread makes, merges and drops
branches, so that these do not meet.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial

from engine.errors import EngineError, EpochError, StoreError
from planner.suggestions import did_you_mean
from service.catalog.branch_records import (
    MAIN,
    BranchRecord,
    add_branch,
    branches_of,
    merges_of,
    remove_branch,
)
from service.errors import Conflict, HistoryGone, Invalid, NotFound, Overloaded
from service.names import check_name
from service.reading.lanes import Lane
from service.running.branches.branch_diff import Difference, difference
from service.running.branches.branch_merging import ConflictChoice, Merged, merge
from service.running.branches.branch_state import Parting
from service.running.branches.branch_timeline import BranchTimeline
from service.running.branches.merged_views import MergedViews, check_names, merge_views
from service.running.state import State
from service.running.timeline import Timeline
from service.running.view_timeline import ViewTimeline

MAIN_NAME = "main"
"""What the service's own timeline is called among branches."""
_log = logging.getLogger("freshet.branches")


class OpenBranches:
    """`all` has the branches by name, each after its parent; it is replaced as a whole."""

    def __init__(self, state: State, main: ViewTimeline, past: Lane, judging: Lane) -> None:
        self.all: Mapping[str, BranchTimeline] = {}
        self.lost: Mapping[str, tuple[BranchRecord, str]] = {}
        """The branches that could not be restored, with the reasons."""
        self._state = state
        self._main = main
        self._lanes = past, judging
        self._lane = Lane("branches", 1)

    def get(self, name: str) -> BranchTimeline:
        """The branch called `name`. Raises NotFound, and Conflict for one that could not be restored."""
        found = self.all.get(name)
        if found is not None:
            return found
        if name in self.lost:
            raise Conflict(
                f"branch {name} could not be restored: {self.lost[name][1]}",
                f"drop it: DROP BRANCH {name}",
                code="branch_lost",
            )
        raise NotFound(
            f"there is no branch called {name}", did_you_mean(name, self.all, "CREATE BRANCH makes one")
        )

    def timeline(self, name: str) -> ViewTimeline:
        """The branch called `name`, or the service's own timeline."""
        return self._main if name == MAIN_NAME else self.get(name)

    def children(self, name: str) -> list[str]:
        """The branches whose parent is called `name`."""
        return [child for child, branch in self.all.items() if branch.parent.name == name]

    # Making and dropping

    async def create(
        self,
        name: str,
        parent: str = MAIN_NAME,
        epoch: int | None = None,
        *,
        live: bool = False,
        exists_ok: bool = False,
    ) -> BranchTimeline:
        """Makes a branch that parts from another timeline at an epoch, by default the newest, and with `live`
        follows it from there. Raises HistoryGone or Invalid for an epoch that cannot be read."""
        return await self._lane.run(self._create, name, parent, epoch, live, exists_ok)

    def _create(
        self, name: str, parent: str, epoch: int | None, live: bool, exists_ok: bool
    ) -> BranchTimeline:
        if name in self.all and exists_ok:
            return self.all[name]
        check_name(name)
        if name == MAIN_NAME or name in self.all or name in self.lost:
            raise Conflict(f"there is a branch called {name} already", code="name_in_use")
        most = self._state.settings.branches
        if len(self.all) >= most:
            raise Overloaded(
                f"there are {most} branches",
                "drop one, or raise FRESHET_BRANCHES",
                code="too_many_branches",
            )
        timeline = self.timeline(parent)
        if epoch is not None and epoch > timeline.readable.newest:
            hint = f"the newest is {timeline.readable.newest}"
            raise Invalid(f"epoch {epoch} does not exist yet", hint, code="epoch_not_reached")
        try:
            parting = timeline.call(partial(self._part, timeline, name, epoch))
        except EpochError as error:
            raise HistoryGone(error.message, "make the branch of an epoch that can be read") from error
        try:
            record = self._record(name, timeline, parting, live)
            with self._state.catalog.transaction() as connection:
                record = add_branch(connection, record)
            return self._open(record, parting, timeline)
        except BaseException:
            self._end(timeline, name, parting)
            raise

    def _part(self, timeline: Timeline, name: str, epoch: int | None) -> Parting:
        """Runs on the writer of the timeline."""
        parting = timeline.part(epoch)
        parting.hold(name, parting.known.newest)
        return parting

    def _record(self, name: str, timeline: Timeline, parting: Parting, live: bool) -> BranchRecord:
        parent = timeline.record.id if isinstance(timeline, BranchTimeline) else MAIN
        now = self._state.instance.time()
        return BranchRecord(0, name, parent, parting.fork.epoch, 0, now, parting.known.newest, int(live))

    def _open(self, record: BranchRecord, parting: Parting, parent: ViewTimeline) -> BranchTimeline:
        with self._state.catalog.connections.reading_aside() as connection:
            merges = merges_of(connection, record.id)
        branch = BranchTimeline(record, parting, parent, merges, *self._lanes)
        self.all = {**self.all, record.name: branch}
        return branch

    async def drop(self, *names: str, missing_ok: bool = False) -> None:
        """Drops branches with all that is their own, or none of them. Raises Conflict while other branches
        have parted from one."""
        await self._lane.run(self._drop, names, missing_ok)

    def _drop(self, names: Sequence[str], missing_ok: bool) -> None:
        if missing_ok:
            names = [name for name in names if name in self.all or name in self.lost]
        there = [self.get(name) for name in set(names) - self.lost.keys()]
        for name in names:
            children = [child for child in self.children(name) if child not in names]
            if children:
                raise Conflict(
                    f"branch {name} is the parent of {', '.join(children)}",
                    f"drop {children[0]} first",
                    code="in_use",
                )
        there.sort(key=lambda it: it.record.id, reverse=True)  # each before its parent
        for branch in there:
            branch.close()
        lost = [self.lost[name][0] for name in set(names) & self.lost.keys()]
        with self._state.catalog.transaction() as connection:
            for record in (*lost, *(branch.record for branch in there)):
                remove_branch(connection, record.id)
        self.lost = {name: it for name, it in self.lost.items() if name not in names}
        self.all = {name: it for name, it in self.all.items() if name not in names}
        for branch in there:
            self._end(branch.parent, branch.record.name, branch.parting)

    def _end(self, parent: Timeline, name: str, parting: Parting) -> None:
        """Lets the parent change its definitions and forget epochs again, in its turn unless it has ended."""

        def end() -> None:
            parting.end(name)

        if parent.closing:
            end()
        else:
            parent.call(end)

    async def merge(self, name: str, on_conflict: ConflictChoice) -> tuple[Merged, MergedViews]:
        """Makes the changes of a branch one epoch of its parent, and then its views; see
        `branch_merging.merge` and `merged_views.merge_views`."""
        branch = self.get(name)
        if on_conflict is ConflictChoice.FAIL:
            check_names(branch)
        return await merge(branch, on_conflict, self._lane), await merge_views(branch)

    def difference(self, name: str, before: str, after: str) -> Difference:
        """What a relation has more or less on one branch than on another; see `branch_diff.difference`."""
        return difference(name, self.timeline(before), self.timeline(after))

    # Start and end

    def restore(self) -> None:
        """Opens the branches of the catalog. Call it before the writer starts. Blocks."""
        with self._state.catalog.connections.reading_aside() as connection:
            records = branches_of(connection)
        names = {record.id: record.name for record in records}
        for record in records:
            started = time.perf_counter()
            parent = MAIN_NAME if record.parent == MAIN else names[record.parent]
            try:
                timeline = self.timeline(parent)
                parting = timeline.part(record.epoch, record.newest_relation)
                self._open(record, parting, timeline)
            except (EngineError, StoreError, Conflict) as error:
                _log.error("branch %s could not be restored: %s", record.name, error.message)
                self.lost = {**self.lost, record.name: (record, error.message)}
                continue
            parting.hold(record.name, record.newest_relation)
            _log.info("branch %s is back after %.2f s", record.name, time.perf_counter() - started)

    def close(self) -> None:
        """Ends the writers of all branches. Blocks."""
        self._lane.close()
        for branch in self.all.values():
            branch.close()
