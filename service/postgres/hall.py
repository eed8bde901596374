"""What all sessions of the PostgreSQL door share: the parts of the app."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from service.accounts.slowing import Slowing
from service.metrics import Metrics
from service.postgres.temporary_tables import TemporaryTables
from service.reading.followers import Follower
from service.reading.lanes import Lanes
from service.reading.shared_work import SharedWork
from service.running.relay import Relay
from service.running.runtime import Runtime
from service.running.timeline import Timeline
from service.settings.settings import Settings
from service.sql.open_sessions import OpenSessions
from service.sql.script_door import SqlDoor

_log = logging.getLogger("freshet.postgres")


class OpenFeeds(Protocol):
    """Counts changefeeds."""

    def enter(self, feed: Follower) -> None: ...

    def leave(self, feed: Follower) -> None: ...


@dataclass(eq=False)
class Hall:
    """Belongs to the event loop. Without `certificate`, there is no TLS."""

    app: Any
    certificate: Callable[[], ssl.SSLContext] | None = None
    slowing: Slowing = field(default_factory=Slowing)
    open: int = 0
    """The number of connections."""
    _clearing: set[asyncio.Task[None]] = field(default_factory=set)
    _relays: dict[Timeline, Relay] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return self.app.settings  # type: ignore[no-any-return]

    @property
    def metrics(self) -> Metrics:
        return self.app.metrics  # type: ignore[no-any-return]

    @property
    def runtime(self) -> Runtime | None:
        return self.app.runtime  # type: ignore[no-any-return]

    @property
    def door(self) -> SqlDoor:
        return self.app.sql_door  # type: ignore[no-any-return]

    @property
    def sessions(self) -> OpenSessions:
        return self.app.sessions  # type: ignore[no-any-return]

    @property
    def lanes(self) -> Lanes:
        return self.app.lanes  # type: ignore[no-any-return]

    @cached_property
    def shared(self) -> SharedWork:
        """What subscriptions share."""
        return SharedWork(self.lanes.feeds)

    def relay(self, timeline: Timeline) -> Relay:
        """By which the changes of a timeline that are copied are sent."""
        if timeline not in self._relays:
            self._relays = {it: relay for it, relay in self._relays.items() if not it.closing}
            self._relays[timeline] = Relay(timeline)
        return self._relays[timeline]

    @property
    def feeds(self) -> OpenFeeds:
        return self.app.feeds  # type: ignore[no-any-return]

    def clear_up(self, tables: TemporaryTables) -> None:
        """Begins to drop the temporary tables of a session that has ended."""
        if tables.schema is not None and self.runtime is not None:
            task = asyncio.get_running_loop().create_task(self._dropped(tables, self.runtime))
            self._clearing.add(task)
            task.add_done_callback(self._clearing.discard)

    async def _dropped(self, tables: TemporaryTables, runtime: Runtime) -> None:
        try:
            await tables.drop(runtime)
        except Exception as error:
            _log.warning("temporary tables stay until the next start: %s", error)

    async def cleared_up(self) -> None:
        """Waits until the temporary tables of ended sessions are dropped."""
        while self._clearing:
            await asyncio.wait(self._clearing)
