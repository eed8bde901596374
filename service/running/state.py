"""The parts of a running service, and how it recovers from its data directory.

Recovery takes the directory's lock, upgrades the catalog, and starts a new engine with the state that the
manifest names, whose tables and views are available at once. Then it feeds the log after that state
(`service/running/replaying.py`). Views that were not saved are then hydrated in the order of their creation.
"""

from __future__ import annotations

import fcntl
import logging
import os
import resource
import shutil
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from engine.runtime.engine import Engine, Options
from engine.runtime.spill import SavedState
from engine.spark.sessions import Sessions
from engine.state.store.directory import StateDirectory
from service.accounts.accounts import Accounts
from service.accounts.audit import witness
from service.catalog.catalog import Catalog
from service.changes.payload import decode_payload
from service.clock import Clock, Time, system_time
from service.concealing import hide
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.named_types import NamedTypes
from service.definitions.restoring import Restoring
from service.errors import ServiceError
from service.metrics import Metrics
from service.placement import Placement
from service.privacy import tighten
from service.running.replaying import replay
from service.settings.doors import is_loopback
from service.settings.settings import Settings
from service.writing.commits import Commits
from service.writing.epochs import Epochs

_log = logging.getLogger("freshet.state")
UNFINISHED = "restoring"
"""A file in a data directory into which a backup is being restored, or was until the restore was killed."""
_OWN = ("lock", "freshet.db*", "spark", "queries", UNFINISHED)
"""The service's own entries in the data directory, which may also contain clients' files."""


class DirectoryInUse(ServiceError):
    """Another process has locked the data directory."""


@dataclass(eq=False)
class State:
    """Only the writer's thread changes any of it."""

    settings: Settings
    metrics: Metrics
    engine: Engine
    catalog: Catalog
    clock: Clock
    definitions: Definitions
    types: NamedTypes
    commits: Commits
    epochs: Epochs
    directory: StateDirectory
    placement: Placement | None
    accounts: Accounts
    lock: int

    def close(self) -> None:
        """Closes the database and releases the data directory."""
        self.catalog.close()
        os.close(self.lock)


def recover(
    settings: Settings, metrics: Metrics, sessions: Sessions | None = None, time: Time = system_time
) -> State:
    """The state in the data directory; an empty one for a new directory.

    With `sessions`, large work runs on Spark. `time` is the clock.

    Raises ServiceError if another process has the directory; DamagedPayload or StoreError if its contents
    are damaged.
    """
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    hide([settings.data, settings.state, *settings.roots])
    tighten(settings.data, _OWN)
    tighten(settings.state, ("*",))
    _allow_open_files()
    with ExitStack() as undo:
        lock = lock_directory(settings)
        undo.callback(os.close, lock)
        catalog = Catalog(settings.url)
        undo.callback(catalog.close)
        catalog.witness = witness
        accounts = Accounts(catalog.transaction)
        _check_address(settings, accounts)
        state = _recover(settings, metrics, catalog, accounts, lock, sessions, time)
        undo.pop_all()
    return state


def _recover(
    settings: Settings,
    metrics: Metrics,
    catalog: Catalog,
    accounts: Accounts,
    lock: int,
    sessions: Sessions | None,
    time: Time,
) -> State:
    started = perf_counter()
    engine = Engine(Options(settings.max_rounds, allowance=settings.view_allowance))
    directory = StateDirectory(settings.state)
    placement = None if sessions is None else Placement(settings, sessions, directory)
    clock = Clock(engine, catalog, settings.clock_milliseconds * 1000, time)
    definitions = Definitions(engine, catalog, clock, settings, placement)
    commits = Commits(engine, catalog, definitions, metrics, clock, placement)
    epochs = Epochs(engine, definitions, commits, metrics, clock, placement)
    state = State(
        settings,
        metrics,
        engine,
        catalog,
        clock,
        definitions,
        NamedTypes(catalog),
        commits,
        epochs,
        directory,
        placement,
        accounts,
        lock,
    )
    restoring, rest = _restore(state)
    _replay(state, restoring)
    for definition in rest:
        restoring.hydrate(definition)
    for definition in definitions.all.values():
        failure = definition.failure or (definition.is_view and engine.snapshot.failure(definition.name))
        if failure:
            _log.error("view %s has failed: %s", definition.name, failure)
    seconds = perf_counter() - started
    epoch, views = engine.snapshot.upper - 1, len(rest)
    _log.info("recovered epoch %d in %.1f s; %d views were computed", epoch, seconds, views)
    return state


def _restore(state: State) -> tuple[Restoring, list[Definition]]:
    """Restores the saved state. Returns the definitions that still have to be computed."""
    found = state.catalog.saved()
    saved: SavedState | None = None
    if found is not None:
        saved = SavedState(found.manifest, state.directory)
        state.engine.resume(saved)

    def is_saved(id: int) -> bool:
        return found is not None and found.has(id)

    restoring = Restoring(state.definitions)
    rest = restoring.tables(saved, is_saved)
    rest += restoring.views(saved, is_saved)
    state.directory.sweep(state.engine.files() | set(found.manifest.names() if found else ()))
    shutil.rmtree(state.settings.scratch, ignore_errors=True)  # of an epoch that nobody waits for any more
    return restoring, rest


def _replay(state: State, restoring: Restoring) -> None:
    """Feeds the log to the engine."""
    newest = state.catalog.newest()
    if newest is None:
        return
    parts: dict[str, list[np.ndarray]] = {}
    log_bytes = log_commits = 0
    for payload in state.catalog.payloads():
        for id, delta in decode_payload(payload, state.engine.dictionary):
            known = restoring.current(id, delta)
            if known is not None:
                table, delta = known
                parts.setdefault(table, []).append(delta)
        log_bytes += len(payload)
        log_commits += 1
    deltas = {table: np.concatenate(found, axis=1) for table, found in parts.items()}
    timed = deltas | state.clock.replayed()
    state.definitions.set_aside |= replay(state.engine, timed, newest.last + 1)
    state.commits.resume(newest, log_bytes, log_commits)


def _allow_open_files() -> None:
    """Raises the limit of open files to the most allowed, because every mapped file stays open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # the system has no such limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _check_address(settings: Settings, accounts: Accounts) -> None:
    """Raises ServiceError if others could reach a service that has no keys."""
    if (
        not accounts.are_needed
        and not is_loopback(settings.host)
        and settings.open_to_anyone.lower() != "yes"
    ):
        raise ServiceError(
            f"the service would listen on {settings.host} (FRESHET_HOST), and there is no key",
            "make one with freshet keys add, or let anyone do anything with FRESHET_OPEN_TO_ANYONE=yes",
        )


def lock_directory(settings: Settings, *, restoring: bool = False) -> int:
    """Locks the data directory for this process, until the descriptor is closed.

    Raises ServiceError if another process has it, or if a restore has not finished, unless this is one.
    """
    descriptor = os.open(settings.data / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise DirectoryInUse(f"another process uses the data directory {settings.data}") from None
    if not restoring and (settings.data / UNFINISHED).exists():
        os.close(descriptor)
        raise ServiceError(
            f"a backup was being restored into {settings.data}, and was not finished",
            "run freshet restore again, or remove the directory",
        )
    return descriptor
