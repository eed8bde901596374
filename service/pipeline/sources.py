"""The sources of a runtime: created, resumed, dropped, and restarted with the service."""

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
    """All sources of a runtime. Any thread except the writer's may use it."""

    def __init__(self, runtime: Runtime, sessions: Sessions) -> None:
        self._runtime = runtime
        self._sessions = sessions
        self._lock = threading.Lock()
        self._all: dict[str, StreamingSource] = {}

    @property
    def all(self) -> Mapping[str, StreamingSource]:
        return dict(self._all)

    def get(self, name: str) -> StreamingSource:
        """The source called `name`. Raises NotFound."""
        try:
            return self._all[name]
        except KeyError:
            raise unknown_source(name) from None

    def restore(self) -> None:
        """Starts the catalog's sources where they stopped."""
        with self._lock:
            for record in self._runtime.record(source_catalog.all_sources):
                self._start(record)

    def create(self, definition: SourceDefinition) -> StreamingSource:
        """Creates and starts a source. Raises Conflict, Invalid or NotFound."""
        if not self._sessions.is_classic:
            raise Conflict(
                "sources need a Spark driver in this process, and this service uses a Connect server's",
                "set FRESHET_SPARK_MASTER instead of FRESHET_SPARK_REMOTE",
                code="spark_connect",
            )
        table = self._runtime.definition(definition.table, view=False)
        _check(definition, len(table.schema))
        with self._lock:
            if definition.name in self._all:
                raise Conflict(f"there is a source called {definition.name} already", code="name_in_use")
            record = SourceRecord(uuid.uuid4().hex, table.id, definition, SourceProgress())
            self._runtime.record(partial(source_catalog.add_source, record=record))
            return self._start(record)

    def resume(self, name: str) -> StreamingSource:
        """Resumes a failed source with the batch that failed. Raises NotFound or Conflict."""
        with self._lock:
            source = self.get(name)
            if source.progress.failure is None:
                raise Conflict(f"source {name} has not failed")
            source.stop()
            self._runtime.record(partial(source_catalog.record_failure, id=source.id, reason=None))
            record = source.record
            return self._start(replace(record, progress=replace(record.progress, failure=None)))

    def drop(self, name: str) -> None:
        """Drops a source. Its rows stay. Raises NotFound."""
        with self._lock:
            source = self.get(name)
            source.stop()
            self._runtime.record(partial(source_catalog.remove_source, id=source.id))
            del self._all[name]
        shutil.rmtree(source.checkpoint, ignore_errors=True)

    def stop(self) -> None:
        """Ends the streams. Call it while the writer still runs."""
        with self._lock:
            for source in self._all.values():
                source.stop()

    def _start(self, record: SourceRecord) -> StreamingSource:
        source = StreamingSource(self._runtime, self._sessions, record)
        self._all[record.definition.name] = source
        source.start()
        return source


def _check(definition: SourceDefinition, columns: int) -> None:
    """Raises Invalid for settings that cannot work together."""
    if definition.envelope is not None and definition.format not in ("json", "text"):
        raise Invalid(
            f"files of format {definition.format} cannot have envelopes",
            "use format json or text, or leave out envelope",
            code="invalid_request",
        )
    if definition.timestamps is not None and definition.envelope != "debezium":
        raise Invalid("timestamps needs envelope debezium", code="invalid_request")
    if definition.format == "text" and definition.envelope is None and columns != 1:
        raise Invalid("format text needs a table with one column", code="invalid_request")


def unknown_source(name: str) -> NotFound:
    return NotFound(f"there is no source called {name}")
