"""Continuous sinks: threads that append a view's changes to directories of files, exactly once.

The catalog has a sink's progress. Before a file is written, the catalog notes its last epoch, and afterwards
that it is done. A crash in between is followed by the same file, written or found, so no epoch is in two
files. History is immutable, so the file would be the same.

A sink waits while a fault may pass: a full disk, a view with errors. It fails, and keeps the reason, when
the epochs that it needs are no longer kept or its view was dropped.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import orjson
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from service.concealing import conceal
from service.definitions.definition import Definition
from service.errors import (
    Conflict,
    HistoryGone,
    Invalid,
    NotFound,
    Overloaded,
    ServiceError,
    Unavailable,
    problem_of,
)
from service.pipeline.catalog_tables import sinks
from service.pipeline.changelog import DIFF, EPOCH, changes_after, file_name, file_row_count, write_file
from service.reading.reads import check_epoch, check_health
from service.running.runtime import Runtime

_log = logging.getLogger("freshet.sinks")


@dataclass(frozen=True)
class SinkDefinition:
    """A client's request: the changes of `view` from epoch `first`, or all that are kept, go to `path`."""

    name: str
    view: str
    path: str
    first: int | None
    interval_seconds: float

    format: ClassVar[str] = "parquet"

    @property
    def relation(self) -> str:
        """The view."""
        return self.view


@dataclass(frozen=True)
class SinkProgress:
    """Epochs up to `done` are in files or changed nothing. The file up to `writing` is being written."""

    done: int | None
    writing: int | None = None
    files: int = 0
    rows: int = 0
    failure: str | None = None


class Sink:
    """One sink and its thread. `trouble` is the fault that it is waiting out."""

    def __init__(
        self, runtime: Runtime, id: str, relation: int, definition: SinkDefinition, progress: SinkProgress
    ) -> None:
        self.id = id
        self.definition = definition
        self.progress = progress
        self.trouble: str | None = None
        self._runtime = runtime
        self._relation = relation
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"freshet-sink-{definition.name}")

    @property
    def state(self) -> Literal["running", "failed"]:
        return "running" if self.progress.failure is None else "failed"

    @property
    def reason(self) -> str | None:
        """Why it has failed, or what it waits for."""
        return self.progress.failure or self.trouble

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, after the current file."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while self.progress.failure is None and not self._stopped.is_set():
            try:
                self._append()
                self.trouble = None
            except (OSError, SQLAlchemyError, Unavailable, Overloaded) as error:
                self.trouble = conceal(str(error))
            except Exception as error:
                self._refused(error)
            self._stopped.wait(self.definition.interval_seconds)

    def _refused(self, error: Exception) -> None:
        """Waits if the view has errors or is being built again; fails the sink otherwise."""
        problem = problem_of(error)
        if problem is not None and problem.code in ("view_has_errors", "view_building"):
            self.trouble = problem.detail
            return
        reason = conceal(f"{type(error).__name__}: {error}") if problem is None else problem.detail
        _log.error("sink %s failed: %s", self.definition.name, reason, exc_info=None if problem else error)
        try:
            self._keep(replace(self.progress, failure=reason))
        except (SQLAlchemyError, ServiceError):
            self.progress = replace(self.progress, failure=reason)

    def _append(self) -> None:
        """As `_write_next`, while the texts of what it reads stay."""
        with self._runtime.dictionary.holding():
            self._write_next()

    def _write_next(self) -> None:
        """Finishes a file that was begun, or writes one if there are new changes."""
        done, until = self.progress.done, self.progress.writing
        if until is not None:
            path = self._path(done, until)
            if not path.exists():
                self._write(path, *self._changes(done, until))
            self._done(path, until)
            return
        until = self._runtime.snapshot.upper - 1
        if done is not None and done >= until:
            return
        view, delta = self._changes(done, until)
        if not delta.shape[1]:
            self._keep(replace(self.progress, done=until))
            return
        self._keep(replace(self.progress, writing=until))
        path = self._path(done, until)
        self._write(path, view, delta)
        self._done(path, until)

    def _path(self, done: int | None, until: int) -> Path:
        return Path(self.definition.path) / file_name(self.id, done, until)

    def _changes(self, done: int | None, until: int) -> tuple[Definition, np.ndarray]:
        """The view and its changes after `done`, up to `until`. Raises HistoryGone or Conflict."""
        readable = self._runtime.readable
        snapshot, view = readable.snapshot, readable.known.all.get(self.definition.view)
        if view is None or view.id != self._relation:
            raise Conflict(f"view {self.definition.view} was dropped or created again")
        check_health(view, snapshot, until)
        if done is not None:
            check_epoch(snapshot, view.name, done)
        return view, changes_after(snapshot, view.name, done, until)

    def _write(self, path: Path, view: Definition, delta: np.ndarray) -> None:
        write_file(path, delta, view.schema, self._runtime.dictionary)

    def _done(self, path: Path, until: int) -> None:
        """Records that a file exists: its epochs are done."""
        progress = self.progress
        self._keep(SinkProgress(until, None, progress.files + 1, progress.rows + file_row_count(path)))

    def _keep(self, progress: SinkProgress) -> None:
        """Stores the progress in the catalog."""
        change = sa.update(sinks).where(sinks.c.id == self.id).values(**asdict(progress))
        self._runtime.record(lambda connection: connection.execute(change))
        self.progress = progress


class Sinks:
    """All sinks of a runtime. Any thread except the writer's may use it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._all: dict[str, Sink] = {}

    @property
    def all(self) -> Mapping[str, Sink]:
        return dict(self._all)

    def get(self, name: str) -> Sink:
        """The sink called `name`. Raises NotFound."""
        try:
            return self._all[name]
        except KeyError:
            raise unknown_sink(name) from None

    def restore(self) -> None:
        """Starts the catalog's sinks where they stopped."""
        with self._lock:
            for row in self._runtime.record(lambda connection: connection.execute(sa.select(sinks)).all()):
                definition = SinkDefinition(**orjson.loads(row.definition))
                progress = SinkProgress(row.done, row.writing, row.files, row.rows, row.failure)
                self._start(Sink(self._runtime, row.id, row.relation, definition, progress))

    def create(self, definition: SinkDefinition) -> Sink:
        """Creates and starts a sink. Raises Conflict, Invalid, NotFound or HistoryGone."""
        view = self._runtime.definition(definition.view, view=True)
        for name in (EPOCH, DIFF):
            if name in view.schema.names:
                raise Invalid(f"view {view.name} has a column {name}, a name that sinks' files use")
        done = None if definition.first is None else definition.first - 1
        if done is not None and done < self._runtime.snapshot.since(view.name):
            since = self._runtime.snapshot.since(view.name)
            raise HistoryGone(
                f"the changes of {view.name} at epoch {definition.first} are no longer kept",
                f"its history begins at epoch {since}, its changes at {since + 1}",
            )
        with self._lock:
            if definition.name in self._all:
                raise Conflict(f"there is a sink called {definition.name} already", code="name_in_use")
            self._check_alone(definition)
            sink = Sink(self._runtime, uuid.uuid4().hex, view.id, definition, SinkProgress(done))
            insert = sa.insert(sinks).values(
                id=sink.id,
                name=definition.name,
                relation=view.id,
                definition=orjson.dumps(asdict(definition)).decode(),
                **asdict(sink.progress),
            )
            self._runtime.record(lambda connection: connection.execute(insert))
            self._start(sink)
        return sink

    def _check_alone(self, definition: SinkDefinition) -> None:
        """Raises Conflict if another sink writes to the directory: whoever adds up its files would add up
        both."""
        directory = Path(definition.path).resolve()
        for name, sink in self._all.items():
            if Path(sink.definition.path).resolve() == directory:
                raise Conflict(
                    f"sink {name} writes to {definition.path} already",
                    f"write to another directory, or drop sink {name}",
                    code="in_use",
                )

    def drop(self, name: str) -> None:
        """Drops a sink. Its files stay. Raises NotFound."""
        with self._lock:
            sink = self.get(name)
            sink.stop()
            delete = sa.delete(sinks).where(sinks.c.id == sink.id)
            self._runtime.record(lambda connection: connection.execute(delete))
            del self._all[name]

    def stop(self) -> None:
        """Ends the threads. Call it while the writer still runs."""
        with self._lock:
            for sink in self._all.values():
                sink.stop()

    def _start(self, sink: Sink) -> None:
        self._all[sink.definition.name] = sink
        sink.start()


def unknown_sink(name: str) -> NotFound:
    return NotFound(f"there is no sink called {name}")
