"""What a running service consists of, and how it comes back from its data directory.

Recovery: take the lock of the directory, bring the catalog up to date, give a new
engine the tables, feed it the checkpoint and the log after it in one pass, then hydrate
the views in the order of their creation. Any chopping of history gives the same answer,
so one pass gives what the many passes of the past gave.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from engine.runtime import Engine, Options
from service.catalog import Catalog, Segment
from service.definitions import Definitions
from service.epochs import Epochs
from service.errors import ServiceError
from service.metrics import Metrics
from service.payload import decode
from service.segments import SegmentFiles
from service.settings import Settings

_log = logging.getLogger("freshet.state")


@dataclass(eq=False)
class State:
    """All but `segments` is bound once. Changing any of it is the writer thread's."""

    settings: Settings
    metrics: Metrics
    engine: Engine
    catalog: Catalog
    definitions: Definitions
    epochs: Epochs
    files: SegmentFiles
    segments: list[Segment]
    lock: int

    def close(self) -> None:
        """Lets go of the database and of the data directory."""
        self.catalog.close()
        os.close(self.lock)


def recover(settings: Settings, metrics: Metrics) -> State:
    """The state that the data directory holds; an empty one for a new directory.

    ServiceError if another process has the directory; DamagedPayload if what it holds is damaged.
    """
    settings.data.mkdir(parents=True, exist_ok=True)
    with ExitStack() as undo:
        lock = _lock(settings)
        undo.callback(os.close, lock)
        catalog = Catalog(settings.url)
        undo.callback(catalog.close)
        state = _recover(settings, metrics, catalog, lock)
        undo.pop_all()
    return state


def _recover(settings: Settings, metrics: Metrics, catalog: Catalog, lock: int) -> State:
    engine = Engine(Options(max_rounds=settings.max_rounds))
    definitions = Definitions(engine, catalog)
    definitions.restore_tables()
    files = SegmentFiles(settings.data / "checkpoints")
    segments = catalog.segments()
    files.sweep(segments)
    epochs = Epochs(engine, catalog, definitions, metrics)
    state = State(settings, metrics, engine, catalog, definitions, epochs, files, segments, lock)
    _replay(state)
    definitions.restore_views()
    for definition in definitions.all.values():
        if definition.failure is not None:
            _log.error("view %s is quarantined: %s", definition.name, definition.failure)
    return state


def _replay(state: State) -> None:
    """Feeds the engine the checkpoint and the log after it."""
    newest = state.catalog.newest()
    if newest is None:
        return
    dictionary = state.engine.dictionary
    names = {d.id: d.name for d in state.definitions.all.values()}
    parts: dict[str, list[np.ndarray]] = {}

    def collect(deltas: Iterable[tuple[int, np.ndarray]]) -> None:
        for id, delta in deltas:
            if id in names:
                parts.setdefault(names[id], []).append(delta)

    for segment in state.segments:
        collect(state.files.read(segment, dictionary))
    log_bytes = log_commits = 0
    for payload in state.catalog.payloads():
        collect(decode(payload, dictionary))
        log_bytes += len(payload)
        log_commits += 1
    deltas = {table: np.concatenate(found, axis=1) for table, found in parts.items()}
    state.engine.stage(deltas, newest.last + 1).publish()
    since = max((segment.since for segment in state.segments), default=0)
    for name in names.values():
        state.engine.forget(name, since)
    state.epochs.resume(newest, log_bytes, log_commits)
    rows = sum(delta.shape[1] for delta in deltas.values())
    _log.info("recovered epoch %d: %d differences of %d tables", newest.last, rows, len(names))


def _lock(settings: Settings) -> int:
    """Holds the data directory for this process, until the descriptor is closed."""
    descriptor = os.open(settings.data / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise ServiceError(f"another process uses the data directory {settings.data}") from None
    return descriptor
