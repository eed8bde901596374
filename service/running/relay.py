"""A relay: followers who are at the same epoch of a relation are sent what is new in one pass.

One task looks at the newest state for a whole group, has one page made, and hands it to each follower in a
call, so that a follower costs what it takes to write to it. A follower that cannot take more at the moment is
let go, goes on at its own pace, and comes back.

Followers are on the same line if they are sent the same pages. Those of a line who are at different epochs
are in different groups, which become one when they come to the same epoch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from engine.runtime.engine import Snapshot
from service.definitions.definition import Definition
from service.reading.callers import Caller
from service.reading.followers import Follower
from service.running.pulse import Beats
from service.running.relation_following import Position, check_going_on, rights_changed
from service.running.timeline import Timeline

REST = 0.0004
"""Seconds of rest of a group, for its look and its page."""
REST_EACH = 0.0001
"""Seconds of rest for each follower in it: about ten times of what it takes to write to it."""


class RelayedPage(Protocol):
    @property
    def until(self) -> int:
        """The epoch up to which it has all changes."""


P = TypeVar("P", bound=RelayedPage)
P_co = TypeVar("P_co", bound=RelayedPage, covariant=True)
P_contra = TypeVar("P_contra", bound=RelayedPage, contravariant=True)


class Line(Protocol[P_co]):
    """What followers of a relation have in common. Lines with equal keys have the same pages."""

    @property
    def key(self) -> Hashable: ...

    @property
    def definition(self) -> Definition: ...

    @property
    def last(self) -> int | None:
        """The last epoch whose changes are wanted."""

    async def page(self, snapshot: Snapshot, since: int) -> P_co:
        """The first changes after epoch `since`."""

    def silence(self, until: int) -> P_co | None:
        """The page which says that there are no changes up to an epoch; None if nothing is said."""


class Carried(Follower, Protocol[P_contra]):
    """A follower that is handed pages."""

    def take(self, until: int, page: P_contra | None) -> bool:
        """Takes the changes up to epoch `until`; None for none. Returns whether it can take more."""


@dataclass(eq=False)
class _Seat(Generic[P]):
    """The place of a follower in its group; `left` is done when the follower has left."""

    follower: Carried[P]
    group: _Group[P]
    left: asyncio.Future[None]

    def leave(self, error: Exception | None = None) -> None:
        """Lets the follower go, with an error if it cannot follow any more."""
        self.group.drop(self)
        if self.left.done():
            return
        if error is None:
            self.left.set_result(None)
        else:
            self.left.set_exception(error)


_Groups = dict[Hashable, list["_Group[P]"]]


class _Group(Generic[P]):
    """Followers of a line who are at the same position. It ends when it has none left."""

    def __init__(self, timeline: Timeline, line: Line[P], since: int, groups: _Groups[P]) -> None:
        """`groups` are those of all lines, to which this one belongs until it ends."""
        self._timeline = timeline
        self._line = line
        self._position = Position(timeline, line.definition, since)
        self._groups = groups
        self._seats: set[_Seat[P]] = set()
        self._beats: Beats | None = None
        groups.setdefault(line.key, []).append(self)
        self._task = asyncio.get_running_loop().create_task(self._run())

    def add(self, seat: _Seat[P]) -> None:
        seat.group = self
        self._seats.add(seat)

    def drop(self, seat: _Seat[P]) -> None:
        self._seats.discard(seat)
        if not self._seats and self._beats is not None:
            self._beats.end_wait()

    def is_at(self, since: int) -> bool:
        """Whether a follower at an epoch can enter it; also while its next page is being made."""
        return bool(self._seats) and self._position.since == since

    async def _run(self) -> None:
        try:
            with Beats(self._timeline.pulse, REST) as self._beats:
                while self._seats:
                    await self._move()
                    self._merge()
                    if self._seats and not self._position.is_behind:
                        self._beats.rest = REST + REST_EACH * len(self._seats)
                        await self._beats.next()
        except Exception as error:
            for seat in list(self._seats):
                seat.leave(error)
        finally:
            peers = self._groups[self._line.key]
            peers.remove(self)
            if not peers:
                del self._groups[self._line.key]

    async def _move(self) -> None:
        """Looks at the newest state once, and hands on what it has."""
        check_going_on(self._timeline)
        self._check_rights()
        position, line = self._position, self._line
        since = position.since
        snapshot = position.look(line.last)
        if snapshot is not None:
            page = await line.page(snapshot, since)
            position.took(page.until)
            self._hand(page)
        elif position.since > since:
            self._hand(line.silence(position.since))

    def _check_rights(self) -> None:
        is_current = self._timeline.accounts.is_current
        for seat in list(self._seats):
            if not is_current(seat.follower.principal):
                seat.leave(rights_changed())

    def _hand(self, page: P | None) -> None:
        for seat in list(self._seats):
            try:
                if not seat.follower.take(self._position.since, page):
                    seat.leave()
            except Exception as error:  # the others go on
                seat.leave(error)

    def _merge(self) -> None:
        """Leaves all followers to another group that is at the same position, if there is one."""
        for other in self._groups[self._line.key]:
            if other is not self and other.is_at(self._position.since):
                for seat in self._seats:
                    other.add(seat)
                self._seats = set()
                return


class Relay(Generic[P]):
    """Of one timeline. Belongs to the event loop."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._groups: _Groups[P] = {}

    async def carry(self, line: Line[P], follower: Carried[P], caller: Caller) -> None:
        """Hands the follower one page after another, until it can take no more.

        Raises a ServiceError if the relation can no longer be followed, CallerGone if the caller leaves.
        """
        loop = asyncio.get_running_loop()
        seat = _Seat(follower, self._group(line, follower.since), loop.create_future())
        seat.group.add(seat)

        def end() -> None:
            loop.call_soon_threadsafe(seat.leave)

        try:
            with caller.ending(end):
                await seat.left
        finally:
            seat.leave()
        caller.check()

    def _group(self, line: Line[P], since: int) -> _Group[P]:
        peers = self._groups.get(line.key, ())
        return next((group for group in peers if group.is_at(since)), None) or _Group(
            self._timeline, line, since, self._groups
        )
