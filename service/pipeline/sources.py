"""The sources of a runtime: created, resumed, dropped, and begun again with the service."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from engine.spark.sessions import Sessions
from service.errors import Conflict, Invalid, NotFound
from service.pipeline import source_catalog
from service.pipeline.source import StreamingSource
from service.pipeline.source_catalog import SourceDefinition, SourceProgress, SourceRecord
from service.running.runtime import Runtime


class Sources:
    """Any thread but the writer's."""

    def __init__(self, runtime: Runtime, sessions: Sessions) -> None:
        self._runtime = runtime
        self._sessions = sessions
        self._lock = threading.Lock()
        self._all: dict[str, StreamingSource] = {}

    @property
    def all(self) -> Mapping[str, StreamingSource]:
        return dict(self._all)

    def get(self, name: str) -> StreamingSource:
        """The source called `name`; NotFound."""
        try:
            return self._all[name]
        except KeyError:
            raise NotFound(f"there is no source called {name}") from None

    def restore(self) -> None:
        """Starts the sources of the catalog where they had come to."""
        with self._lock:
            for record in self._runtime.record(source_catalog.records):
                self._start(record)

    def create(self, definition: SourceDefinition) -> StreamingSource:
        """A new source, about to run. Conflict, Invalid or NotFound."""
        if not self._sessions.is_classic:
            raise Conflict(
                "sources need a Spark driver in this process, and the driver is a Connect server's",
                "name a master with FRESHET_SPARK_MASTER",
                code="spark_connect",
            )
        table = self._runtime.definition(definition.table, view=False)
        _check(definition, len(table.schema))
        with self._lock:
            if definition.name in self._all:
                raise Conflict(f"there is a source called {definition.name} already", code="name_in_use")
            record = SourceRecord(uuid.uuid4().hex, table.id, definition, SourceProgress())
            self._runtime.record(partial(source_catalog.add, record=record))
            return self._start(record)

    def resume(self, name: str) -> StreamingSource:
        """Has a source that failed try again, from the batch that it failed at. NotFound, Conflict."""
        with self._lock:
            source = self.get(name)
            if source.progress.failure is None:
                raise Conflict(f"source {name} has not failed")
            source.stop()
            self._runtime.record(partial(source_catalog.fail, id=source.id, reason=None))
            record = source.record
            return self._start(replace(record, progress=replace(record.progress, failure=None)))

    def drop(self, name: str) -> None:
        """Ends a source; its rows stay. NotFound."""
        with self._lock:
            source = self.get(name)
            source.stop()
            self._runtime.record(partial(source_catalog.remove, id=source.id))
            del self._all[name]
        shutil.rmtree(source.checkpoint, ignore_errors=True)

    def stop(self) -> None:
        """Ends the streams. While the writer still runs."""
        with self._lock:
            for source in self._all.values():
                source.stop()

    def _start(self, record: SourceRecord) -> StreamingSource:
        source = StreamingSource(self._runtime, self._sessions, record)
        self._all[record.definition.name] = source
        source.start()
        return source


def _check(definition: SourceDefinition, columns: int) -> None:
    """Invalid for what can never work."""
    if definition.envelope is not None and definition.format not in ("json", "text"):
        raise Invalid(
            f"files of format {definition.format} have no lines that could be envelopes",
            "envelopes are for json and text",
            code="invalid_request",
        )
    if definition.timestamps is not None and definition.envelope != "debezium":
        raise Invalid("timestamps are of envelope debezium alone", code="invalid_request")
    if definition.format == "text" and definition.envelope is None and columns != 1:
        raise Invalid("lines of text are rows of one column", code="invalid_request")
