"""Following a relation: what it has that was not taken yet, and whether it can still be followed.

All doors follow in one way. Who follows looks at the newest state, takes what has changed since the epoch
`since`, says with `took` how far that went, and waits for the next beat of the pulse before it looks again.
Nothing of a state is kept between two looks. Those who are at the same epoch can share a position
(`service/running/relay.py`).
"""

from __future__ import annotations

import weakref

from engine.runtime.engine import Snapshot
from engine.state.snapshot import RelationSnapshot
from service.accounts.principals import Principal
from service.definitions.definition import Definition
from service.definitions.maintained_queries import is_query_name
from service.errors import Conflict, NotFound, Unauthenticated, Unavailable
from service.reading.reads import check_health
from service.running.timeline import Timeline


class Position:
    """`since` is the last epoch whose changes were taken."""

    def __init__(
        self, timeline: Timeline, definition: Definition, since: int, skip_errors: bool = False
    ) -> None:
        self._timeline = timeline
        self.definition = definition
        self.since = since
        self._skip_errors = skip_errors
        self._asked: tuple[int, weakref.ref[RelationSnapshot]] | None = None
        """The newest epoch at the last look that found something, and the relation as it was then."""

    def look(self, until: int | None = None) -> Snapshot | None:
        """The newest state, if it may have changes after `since` and up to epoch `until`.

        If it has none, they count as taken. Raises a ServiceError if the relation can no longer be followed.
        """
        definition, readable = self.definition, self._timeline.readable
        name, snapshot = definition.name, readable.snapshot
        relation = snapshot.relations.get(name)
        if is_query_name(name):
            _check_query(relation)
        elif (there := readable.known.all.get(name)) is not definition:
            if there is None or not there.goes_on_from(definition):
                raise NotFound(f"{name} was dropped or altered", "follow it anew")
            definition = self.definition = there
        if snapshot.relation(name).aside:
            return None  # it comes back with all of its changes
        newest = snapshot.upper - 1 if until is None else min(snapshot.upper - 1, until)
        if newest <= self.since:
            return None
        if relation is not None and self._seen() is relation:
            self.since = newest
            return None
        check_health(definition, snapshot, snapshot.upper - 1, self._skip_errors)
        self._asked = newest, weakref.ref(snapshot.relations[name])
        return snapshot

    def took(self, until: int) -> None:
        """Says that the changes up to an epoch were taken."""
        self.since = until

    @property
    def is_behind(self) -> bool:
        """Whether there was more at the last look than was taken."""
        return self._asked is not None and self.since < self._asked[0]

    def _seen(self) -> RelationSnapshot | None:
        """The relation as it was when all of its changes had been taken, if it is still so."""
        return None if self._asked is None or self.is_behind else self._asked[1]()


class Following(Position):
    """The position of a principal."""

    def __init__(
        self,
        timeline: Timeline,
        definition: Definition,
        principal: Principal,
        since: int,
        skip_errors: bool = False,
    ) -> None:
        super().__init__(timeline, definition, since, skip_errors)
        self.principal = principal

    def look(self, until: int | None = None) -> Snapshot | None:
        if not self._timeline.accounts.is_current(self.principal):
            raise rights_changed()
        return super().look(until)


def check_going_on(timeline: Timeline) -> None:
    """Raises Unavailable if the timeline is about to end, so that it can be followed no longer."""
    if timeline.closing:
        what, hint = "the service is shutting down", ""
        if timeline.name:
            what, hint = (
                f"branch {timeline.name} has ended",
                "it was dropped, or the service is shutting down",
            )
        raise Unavailable(what, hint, code="shutting_down")


def rights_changed() -> Unauthenticated:
    """The error for a follower whose principal is no longer what it was."""
    return Unauthenticated("the key or its rights have changed", "follow it anew", code="key_invalid")


def _check_query(query: RelationSnapshot | None) -> None:
    """Raises unless a query is still maintained."""
    if query is None:
        raise NotFound("what the query reads was dropped or altered", "subscribe to it anew")
    if query.failure is not None:
        raise Conflict(
            f"the query is no longer maintained: {query.failure}",
            "subscribe to it anew, or create a view of it",
            code="view_failed",
        )
