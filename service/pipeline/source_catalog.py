"""Sources in the catalog: their definitions and their progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import orjson
import sqlalchemy as sa

from service.catalog.catalog import Receipt
from service.changes.table_changes import Applied
from service.errors import Conflict
from service.pipeline.batches import FileFormat
from service.pipeline.catalog_tables import sources


@dataclass(frozen=True)
class SourceDefinition:
    """A client's request: the files of `path` go to `table`. Spark looks every `trigger_seconds`."""

    name: str
    table: str
    format: str
    path: str
    options: Mapping[str, str]
    envelope: str | None
    timestamps: str | None
    trigger_seconds: float
    files_per_batch: int
    bad_rows: str

    @property
    def relation(self) -> str:
        """The table."""
        return self.table

    @property
    def reading(self) -> FileFormat:
        """How the source's files are read."""
        return FileFormat(self.format, self.options, self.envelope, self.timestamps, self.bad_rows == "skip")


@dataclass(frozen=True)
class SourceProgress:
    """The last applied batch, -1 for none, its files and its epoch; and the rows of all batches."""

    last_batch: int = -1
    files: tuple[str, ...] = ()
    epoch: int = 0
    rows: int = 0
    skipped: int = 0
    failure: str | None = None

    def after(self, files: tuple[str, ...], epoch: int, rows: int, skipped: int) -> SourceProgress:
        """The progress after the next batch is applied."""
        return SourceProgress(self.last_batch + 1, files, epoch, self.rows + rows, self.skipped + skipped)


@dataclass(frozen=True)
class SourceRecord:
    """A source. `relation` is the id of its table; `id` names its checkpoint."""

    id: str
    relation: int
    definition: SourceDefinition
    progress: SourceProgress


def all_sources(connection: sa.Connection) -> list[SourceRecord]:
    """Every source."""
    return [_record(row) for row in connection.execute(sa.select(sources))]


def progress_of(connection: sa.Connection, id: str) -> SourceProgress:
    """The progress of a source. Raises Conflict if it was dropped."""
    row = connection.execute(sa.select(sources).where(sources.c.id == id)).first()
    if row is None:
        raise Conflict("the source was dropped")
    return _record(row).progress


def add_source(connection: sa.Connection, record: SourceRecord) -> None:
    definition = orjson.dumps(asdict(record.definition)).decode()
    values = {"id": record.id, "name": record.definition.name, "relation": record.relation}
    connection.execute(sa.insert(sources).values(**values, definition=definition, **_values(record.progress)))


def remove_source(connection: sa.Connection, id: str) -> None:
    connection.execute(sa.delete(sources).where(sources.c.id == id))


def record_failure(connection: sa.Connection, id: str, reason: str | None) -> None:
    """Stores the reason why a source failed; None lets it run again."""
    connection.execute(sa.update(sources).where(sources.c.id == id).values(failure=reason))


def progress_receipt(id: str, after: SourceProgress) -> Receipt:
    """A receipt that stores the progress. It raises Conflict unless the batch follows the last one."""

    def receipt(connection: sa.Connection, applied: Applied) -> None:
        mine = (sources.c.id == id) & (sources.c.last_batch == after.last_batch - 1)
        values = _values(replace(after, epoch=applied.epoch))
        if connection.execute(sa.update(sources).where(mine).values(values)).rowcount != 1:
            raise Conflict("the source was dropped meanwhile")

    return receipt


def _values(progress: SourceProgress) -> dict[str, object]:
    return {**asdict(progress), "files": orjson.dumps(progress.files).decode()}


def _record(row: sa.Row) -> SourceRecord:
    definition = SourceDefinition(**orjson.loads(row.definition))
    files = tuple(orjson.loads(row.files))
    progress = SourceProgress(row.last_batch, files, row.epoch, row.rows, row.skipped, row.failure)
    return SourceRecord(row.id, row.relation, definition, progress)
