"""The parts of a running service that hold its tables and views, and how they are recovered.

Recovery starts a new engine with the state that the manifest names, whose tables and views are available at
once. Then it feeds the log after that state (`service/running/replaying.py`). Views that were not saved are
then hydrated in the order of their creation. A standby feeds the log on and on
(`service/running/log_follower.py`).
"""

from __future__ import annotations

import logging
import resource
import shutil
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from engine.errors import StoreError
from engine.runtime.engine import Engine, Options
from engine.runtime.spill import SavedState
from engine.spark.sessions import Sessions
from engine.state.store.directory import StateDirectory
from planner.parsing.vocabulary import Vocabulary
from service.accounts.accounts import Accounts
from service.catalog.catalog import Catalog
from service.catalog.manifests import Saved
from service.changes.payload import decode_payload
from service.clock import Clock, Time, system_time
from service.concealing import hide
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.named_functions import NamedFunctions
from service.definitions.named_types import NamedTypes
from service.definitions.restoring import Restoring
from service.metrics import Metrics
from service.placement import Placement
from service.privacy import tighten
from service.running.instance import UNFINISHED, Deposing, Instance
from service.running.replaying import replay
from service.settings.settings import Settings
from service.writing.commits import Commits
from service.writing.epochs import Epochs

_log = logging.getLogger("freshet.state")
_OWN = ("lock", "freshet.db*", "spark", "queries", UNFINISHED)
"""The service's own entries in the data directory, which may also contain clients' files."""
_ATTEMPTS = 5
"""Times that a standby may find that the leader has removed the files which it is about to map."""


@dataclass(eq=False)
class State:
    """Only the writer's thread changes any of it; in a standby, the thread that follows.

    `revision` is that of the definitions, `covered` the first epoch after those of the manifest it is from.
    """

    instance: Instance
    engine: Engine
    clock: Clock
    definitions: Definitions
    types: NamedTypes
    functions: NamedFunctions
    commits: Commits
    epochs: Epochs
    directory: StateDirectory
    placement: Placement | None
    restoring: Restoring
    revision: int
    covered: int
    _vocabulary: Vocabulary = field(default_factory=Vocabulary)

    @property
    def vocabulary(self) -> Vocabulary:
        """The named types and functions; the same object while these are the same. Any thread may ask."""
        types, functions, last = self.types.all, self.functions.all, self._vocabulary
        if last.types is not types or last.functions is not functions:
            last = self._vocabulary = Vocabulary(types, functions)
        return last

    @property
    def settings(self) -> Settings:
        return self.instance.settings

    @property
    def metrics(self) -> Metrics:
        return self.instance.metrics

    @property
    def catalog(self) -> Catalog:
        return self.instance.catalog

    @property
    def accounts(self) -> Accounts:
        return self.instance.accounts

    def close(self) -> None:
        """Closes the database and releases the data directory."""
        self.instance.close()


def recover(
    settings: Settings,
    metrics: Metrics,
    sessions: Sessions | None = None,
    time: Time = system_time,
    on_deposed: Deposing = lambda: None,
) -> State:
    """The state in the data directory; an empty one for a new directory.

    With `sessions`, large work runs on Spark. `time` is the clock. `on_deposed` is called when another
    service has taken the place of this one, which then has to end.

    Raises ServiceError if another process has the directory; DamagedPayload or StoreError if its contents
    are damaged.
    """
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    hide([settings.data, settings.state, *settings.roots])
    tighten(settings.data, _OWN)
    tighten(settings.state, ("*",))
    _allow_open_files()
    instance = Instance.open(settings, metrics, sessions, time, on_deposed)
    try:
        return _recovered_at_last(instance)
    except BaseException:
        instance.close()
        raise


def _recovered_at_last(instance: Instance) -> State:
    """The state; a standby tries again if the leader has removed the files of the manifest meanwhile."""
    for _ in range(0 if instance.leads else _ATTEMPTS):
        try:
            return recovered(instance)
        except StoreError as error:
            _log.info("recovering again: %s", error.message)
    return recovered(instance)


def recovered(instance: Instance, last: State | None = None) -> State:
    """The state that the catalog and the directory have now. It shares the dictionary of the `last` one, and
    the definitions that are still the same."""
    started = perf_counter()
    settings, catalog = instance.settings, instance.catalog
    dictionary = None if last is None else last.engine.dictionary
    engine = Engine(Options(settings.max_rounds, allowance=settings.view_allowance), dictionary=dictionary)
    directory = StateDirectory(settings.state)
    if catalog.connections.token is not None:
        directory.lead(catalog.connections.token)
    placement = None if instance.sessions is None else Placement(settings, instance.sessions, directory)
    if placement is not None:
        placement.is_here_only = not instance.leads
    clock = Clock(engine, catalog, settings.clock_milliseconds * 1000, instance.time)
    definitions = Definitions(engine, catalog, clock, settings, placement)
    commits = Commits(engine, catalog, definitions, instance.metrics, clock, placement)
    epochs = Epochs(engine, definitions, commits, instance.metrics, clock, placement)
    with nullcontext() if instance.leads else catalog.connections.frozen():
        definitions.schemas.read()
        definitions.sequences.read()
        found = catalog.saved()
        if found is not None:
            engine.resume(SavedState(found.manifest, directory))
        state = State(
            instance,
            engine,
            clock,
            definitions,
            NamedTypes(catalog, definitions.schemas),
            NamedFunctions(catalog, definitions.schemas),
            commits,
            epochs,
            directory,
            placement,
            Restoring(definitions),
            catalog.revision(),
            0 if found is None else found.manifest.upper,
        )
        rest = _restore(state, found)
        catch_up(state)
        for definition in rest:
            state.restoring.hydrate(definition)
        if not instance.leads:  # a leader builds them beside its writer
            state.restoring.hydrate_lookups()
    if last is not None:
        definitions.keep(last.definitions.all)
    for definition in definitions.all.values():
        failure = definition.failure or (definition.is_view and engine.snapshot.failure(definition.name))
        if failure:
            _log.error("view %s has failed: %s", definition.name, failure)
    seconds = perf_counter() - started
    epoch, views = engine.snapshot.upper - 1, len(rest)
    _log.info("recovered epoch %d in %.1f s; %d views were computed", epoch, seconds, views)
    return state


def _restore(state: State, found: Saved | None) -> list[Definition]:
    """Restores what the manifest has. Returns the definitions that still have to be computed."""
    saved = None if found is None else SavedState(found.manifest, state.directory)

    def is_saved(id: int) -> bool:
        return found is not None and found.has(id)

    rest = state.restoring.tables(saved, is_saved)
    rest += state.restoring.views(saved, is_saved)
    if state.instance.leads:
        clean(state, found)
    return rest


def clean(state: State, found: Saved | None) -> None:
    """Removes the files that are no part of the state with this manifest, which earlier leaders have left."""
    state.directory.sweep(state.engine.files() | set(found.manifest.names() if found else ()))
    shutil.rmtree(state.settings.scratch, ignore_errors=True)  # of an epoch that nobody waits for any more


def catch_up(state: State) -> bool:
    """Feeds the log to the engine, from the engine's newest epoch on. Returns whether there was something."""
    newest, upper = state.catalog.newest(), state.engine.snapshot.upper
    if newest is None:
        return False
    parts: dict[str, list[np.ndarray]] = {}
    log_bytes, log_commits = state.commits.log_bytes, state.commits.log_commits
    for payload in state.catalog.payloads(upper):
        for id, delta in decode_payload(payload, state.engine.dictionary):
            known = state.restoring.current(id, delta)
            if known is not None:
                table, delta = known
                parts.setdefault(table, []).append(delta)
        log_bytes += len(payload)
        log_commits += 1
    deltas = {table: np.concatenate(found, axis=1) for table, found in parts.items()}
    timed = deltas | state.clock.replayed()
    state.definitions.set_aside |= replay(state.engine, timed, newest.last + 1)
    state.commits.resume(newest, log_bytes, log_commits)
    return newest.last >= upper


def _allow_open_files() -> None:
    """Raises the limit of open files to the most allowed, because every mapped file stays open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # the system has no such limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
