"""Following: a standby feeds the leader's log to its own engine, until it takes the leader's place.

  follow     each 100 ms: the new part of the log, at the catalog's state of one moment
  recover    from the manifest, if definitions have changed, if the log does not go back to the newest epoch
             that is here, or if newer files have much of what memory holds, or views that it lacks
  take over  once nobody has the leader's lock: the next token, the rest of the log, and then its own changes

Readers see the last state while the next one is recovered. All states share one dictionary, so what they hold
of an older state stays readable. What fails is tried again, from a recovery on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from service.running.instance import Instance
from service.running.state import State, catch_up, clean, recovered

T = TypeVar("T")
PAUSE = 0.1
"""Seconds between two looks at the catalog."""
_ACCOUNTS = 1.0
"""Seconds between two looks at the accounts."""
_HEAVY = 2
"""Memory may hold the changes of so many checkpoints before a newer manifest is recovered."""
_log = logging.getLogger("freshet.standby")


class LogFollower:
    def __init__(self, state: State, show: Callable[[State], None], lead: Callable[[State], None]) -> None:
        """`show` lets readers see a state; `lead` begins to make changes of it. Both run on the thread."""
        self._state = state
        self._instance: Instance = state.instance
        self._show = show
        self._lead = lead
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._is_whole = True
        self._accounts_at = 0.0
        self._thread = threading.Thread(target=self._run, name="freshet.standby")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; it finishes what it has begun."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def call(self, job: Callable[[], T]) -> T:
        """Calls the job between two epochs. Blocks."""
        with self._lock:
            return job()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._has_taken_over():
                    return
                self._follow()
            except SQLAlchemyError as error:
                _log.warning("the catalog cannot be reached: %s", error)
                self._recover_later()
            except Exception:
                _log.exception("the log cannot be followed; the state is recovered again")
                self._recover_later()
            self._stopped.wait(PAUSE)

    def _recover_later(self) -> None:
        self._is_whole = False
        try:
            self._instance.catalog.connections.reconnect()
        except SQLAlchemyError:
            self._stopped.wait(1)

    def _follow(self) -> None:
        """Brings the state to the catalog's newest epoch."""
        state, catalog = self._state, self._instance.catalog
        if time.monotonic() - self._accounts_at > _ACCOUNTS:
            self._instance.accounts.read_again()
            self._accounts_at = time.monotonic()
        with catalog.connections.frozen():
            is_known = self._is_whole and self._is_next(state) and not self._is_outdated(state)
            if is_known:
                with self._lock:
                    has_more = catch_up(state)
                if has_more:
                    self._show(state)
        if not is_known:
            self._recover()

    def _is_next(self, state: State) -> bool:
        """Whether the log goes on where the state ends."""
        catalog = state.catalog
        return catalog.revision() == state.revision and catalog.covered() <= state.engine.snapshot.upper

    def _is_outdated(self, state: State) -> bool:
        """Whether newer files have much that is held in memory, or maybe a view that took too long here."""
        settings, commits = state.settings, state.commits
        is_much = (
            commits.log_bytes > _HEAVY * settings.checkpoint_bytes
            or commits.log_commits > _HEAVY * settings.checkpoint_commits
        )
        is_lacking = bool(state.definitions.set_aside)
        return (is_much or is_lacking) and state.catalog.covered() > state.covered

    def _recover(self) -> None:
        self._state = recovered(self._instance, self._state)
        self._is_whole = True
        self._show(self._state)

    def _has_taken_over(self) -> bool:
        """Takes over if there is no leader any more."""
        leadership = self._instance.leadership
        assert leadership is not None
        if not leadership.acquire():
            return False
        try:
            self._take_over()
        except Exception:
            _log.critical("the service cannot take over, and ends", exc_info=True)
            self._instance.on_deposed()
        return True

    def _take_over(self) -> None:
        started = time.perf_counter()
        with self._lock:
            self._instance.lead()
            # The last leader changes nothing any more, so these are its last keys, and no revoked one counts.
            self._instance.accounts.read_again()
            if self._is_whole and self._is_next(self._state):
                self._keep()
            else:
                self._recover()
        self._lead(self._state)
        epoch, seconds = self._state.engine.snapshot.upper - 1, time.perf_counter() - started
        _log.info("took over at epoch %d in %.2f s", epoch, seconds)

    def _keep(self) -> None:
        """Goes on with the state that is here, of which the last leader may have removed files."""
        state = self._state
        catch_up(state)
        found = state.catalog.saved()
        token = state.catalog.connections.token
        assert token is not None
        state.directory.lead(token)
        if state.placement is not None:
            state.placement.is_here_only = False
        state.engine.detach(set(found.manifest.names() if found else ()))
        clean(state, found)
        self._show(state)
