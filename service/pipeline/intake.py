"""A source's batches into its table: one epoch a batch, each batch exactly once.

The transaction of a batch's epoch also stores the batch's number and files in the catalog. So wherever a
crash comes, Spark's next batch is either the next one, or the last applied one again, which is skipped. Any
other number, or other files under the last number, means that catalog and checkpoint do not belong together.
That is a Conflict; no row is lost or doubled.

This process computes batches, except large ones of inserts alone, whose rows stay on Spark.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.runtime.execution import Declined, Scanned
from engine.spark.sessions import Sessions
from service.catalog.catalog import Receipt
from service.definitions.definition import Definition
from service.errors import Conflict
from service.pipeline import source_catalog
from service.pipeline.batches import BatchReader
from service.pipeline.source_catalog import SourceProgress, SourceRecord
from service.placement import Where
from service.running.runtime import Runtime
from service.writing.request import Load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Intake:
    """Any thread may read `progress`. Only one thread at a time may call the methods."""

    def __init__(self, runtime: Runtime, sessions: Sessions, record: SourceRecord) -> None:
        self.progress = record.progress
        self._record = record
        self._runtime = runtime
        self._sessions = sessions

    def refresh(self) -> None:
        """Reads the progress from the catalog, which may hold a commit that was not confirmed."""
        self.progress = self._runtime.record(partial(source_catalog.progress_of, id=self._record.id))

    def take(self, session: SparkSession, batch: int, sizes: Mapping[Path, int]) -> None:
        """Applies a batch of files, given with their sizes in bytes, or skips it if it was applied.

        Raises Conflict or Invalid, and then applies nothing. Empty files may be missing.
        """
        paths = sorted(sizes)
        files = tuple(str(path.relative_to(self._record.definition.path)) for path in paths)
        if not self._is_new(batch, files):
            return
        table = self._table()
        reader = BatchReader(self._record.definition.reading, table, self._runtime.dictionary)
        settings, columns = self._runtime.settings, len(table.schema)
        large = settings.spark == Where.ALWAYS or not settings.has_room_for(sum(sizes.values()), columns)
        try:
            loaded = self._load(reader, table, paths, files) if large and paths else None
            self.progress = loaded or self._change(session, reader, table, paths, files)
        except Conflict as error:
            named = ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
            raise Conflict(
                f"batch {batch} of {named}: {error.message}", error.hint, code=error.code
            ) from None

    def _is_new(self, batch: int, files: Collection[str]) -> bool:
        """Whether the batch is still to be applied; False for the last one. Raises Conflict for any other."""
        last = self.progress.last_batch
        if batch == last + 1:
            return True
        if batch != last:
            raise Conflict(f"batch {batch} came after batch {last}: the checkpoint is not this source's")
        # Spark leaves out files that were deleted meanwhile.
        other = sorted(set(files) - set(self.progress.files))
        if other:
            raise Conflict(f"batch {batch} had no {other[0]} before: the checkpoint is not this source's")
        return False

    def _table(self) -> Definition:
        name = self._record.definition.table
        table = self._runtime.definitions().get(name)
        if table is None or table.id != self._record.relation:
            raise Conflict(f"table {name} was dropped or created again")
        return table

    def _change(
        self,
        session: SparkSession,
        reader: BatchReader,
        table: Definition,
        paths: Sequence[Path],
        files: tuple[str, ...],
    ) -> SourceProgress:
        """Applies the batch in this process. Returns the new progress."""
        with self._runtime.dictionary.holding():
            read = reader.read(session, paths)
            after = self.progress.after(files, 0, len(read.changes), read.skipped)
            receipt = source_catalog.progress_receipt(self._record.id, after)
            applied = self._runtime.commit({table.name: read.changes}, receipt)
        return replace(after, epoch=applied.epoch)

    def _load(
        self, reader: BatchReader, table: Definition, paths: Sequence[Path], files: tuple[str, ...]
    ) -> SourceProgress | None:
        """Applies the batch on Spark. Returns the new progress, or None if the batch is not for Spark."""
        settings, columns = self._runtime.settings, len(table.schema)
        where = Where(settings.spark)
        scan = None if where is Where.NEVER else reader.scan(self._sessions.get(), paths)
        if scan is None or (where is Where.AUTO and settings.has_room_for(scan.frame.count(), columns)):
            return None
        progress, id = self.progress, self._record.id

        def receipt(scanned: Scanned) -> Receipt:
            return source_catalog.progress_receipt(
                id, progress.after(files, 0, scanned.rows, scanned.skipped)
            )

        try:
            applied, scanned = self._runtime.load(Load(table, scan, id, receipt))
        except Declined:
            return None
        return progress.after(files, applied.epoch, scanned.rows, scanned.skipped)
