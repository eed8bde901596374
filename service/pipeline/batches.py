"""The files of a micro-batch as changes of a table; bad rows are reported or counted.

Rows are ordered by their files (by time of modification, then path), and by their place in the file: where
changes share a key, the last one counts. Columns (CSV, JSON without an envelope, ORC, Parquet, text) are read
and checked as loads read them. A column `_op` says `insert`, `delete` or `upsert`; without it every row is an
insert. Lines that are envelopes are read like request bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.errors import InvalidValue
from engine.judging.row_judge import RowJudge
from engine.runtime.execution import RowScan
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from service.changes.table_changes import ChangeOp, TableChanges
from service.decoding.parsing import of_envelopes, of_objects
from service.decoding.pieces import parse_json
from service.decoding.tabular import operations, unknown_operation
from service.definitions.definition import Definition
from service.errors import BadRequest, Invalid
from service.names import OPERATION
from service.pipeline.judge import match, row_judge
from service.pipeline.locations import Location, local
from service.pipeline.readers import FrameSource, read_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILE, _MODIFIED, _BLOCK = "_file_path", "_file_modified", "_file_block"
_WHERE = (
    f"_metadata.file_path AS {_FILE}",
    f"_metadata.file_modification_time AS {_MODIFIED}",
    f"_metadata.file_block_start AS {_BLOCK}",
)
_OPTIONS = {"parquet": {"mergeSchema": "true"}, "orc": {"mergeSchema": "true"}}
"""A column may have been added between one file and the next."""
_CHUNK = 8192
"""Lines that are parsed at once."""


@dataclass(frozen=True)
class FileFormat:
    """How files become changes. `envelope` is None, `changes` or `debezium`; `unit` is its moments'."""

    name: str
    options: Mapping[str, str]
    envelope: str | None
    unit: str | None
    skip_bad: bool


@dataclass(frozen=True, eq=False)
class Batch:
    """Changes, and the number of bad rows that were skipped."""

    changes: TableChanges
    skipped: int


class BatchReader:
    """Reads files for one table."""

    def __init__(self, format: FileFormat, definition: Definition, dictionary: Dictionary) -> None:
        self._format = format
        self._definition = definition
        self._dictionary = dictionary

    def scan(self, session: SparkSession, paths: Sequence[Path]) -> RowScan | None:
        """The rows of the files for Spark to load; None if they may be more than inserts."""
        rules = self._definition.details.rules
        if self._format.envelope or rules.judges or rules.defaults:
            return None
        source = self._source(session, paths)
        if OPERATION in source.columns:
            return None
        judge, names = self._judge(source, self._definition.schema)
        return RowScan(source.select(names), judge, self._format.skip_bad)

    def read(self, session: SparkSession, paths: Sequence[Path]) -> Batch:
        """The changes in the files.

        Raises Invalid for columns that the table does not have, and for the first bad row unless bad rows are
        skipped.
        """
        if not paths:
            nothing = np.empty((len(self._definition.schema), 0), np.int64)
            return Batch(TableChanges.of(ChangeOp.INSERT, self._definition.schema, nothing), 0)
        if self._format.envelope:
            table = _ordered(self._lines(session, paths))
            bad = _Bad(table, "line", self._format.skip_bad)
            return Batch(self._of_lines(table, bad), bad.count)
        source = self._source(session, paths)
        judge, names = self._judge(source, self._definition.loose)
        also = (*_WHERE, OPERATION) if OPERATION in source.columns else _WHERE
        table = _ordered(source.select(names, also).toArrow())
        bad = _Bad(table, "row", self._format.skip_bad)
        return Batch(self._of_columns(table, judge, bad), bad.count)

    # Columns

    def _source(self, session: SparkSession, paths: Sequence[Path]) -> FrameSource:
        place = Location(tuple(map(local, paths)))
        options = {**_OPTIONS.get(self._format.name, {}), **self._format.options}
        return read_frame(session, self._format.name, place, options, self._definition.schema.names)

    def _judge(self, source: FrameSource, schema: Schema) -> tuple[RowJudge, list[str]]:
        """The judge of the rows by `schema`, and the columns that it takes."""
        found = {column: type for column, type in source.columns.items() if column != OPERATION}
        renamed = {"value": schema.names[0]} if self._format.name == "text" else {}
        matched = match(found, self._definition.name, schema, renamed, False)
        return row_judge(found, matched, schema, source.corrupt)

    def _of_columns(self, table: pa.Table, judge: RowJudge, bad: _Bad) -> TableChanges:
        definition = self._definition
        ops = np.zeros(len(table), np.int8)
        judged = judge.judged(pa.concat_batches(table.to_batches()), self._dictionary)
        good = ~judged.bad
        for place in np.flatnonzero(judged.bad).tolist():
            bad.add(place, judged.message(place))
        if OPERATION in table.column_names:
            ops, unknown = operations(table[OPERATION])
            for place in np.flatnonzero(unknown & good).tolist():
                bad.add(place, unknown_operation(table[OPERATION][place].as_py()).message)
                good[place] = False
        words = np.ascontiguousarray(judged.words[:, good])
        left_out = [place for place, source in enumerate(judge.sources) if source is None]
        words[left_out] = definition.defaults()[left_out, np.newaxis]
        changes = TableChanges(definition.schema, ops[good], words)
        places = np.flatnonzero(good)
        whole = np.ones(len(changes), np.bool_)
        for column, null in changes.nulls(definition.relation.key):
            for place in np.flatnonzero(null & whole).tolist():
                bad.add(int(places[place]), f"column {column}: NULL in a column that is NOT NULL")
                whole[place] = False
        if definition.filling is not None:
            changes = definition.filling.completed(changes)
            for error, faulty in definition.filling.faults(changes):
                for place in np.flatnonzero(faulty & whole).tolist():
                    bad.add(int(places[place]), error.message)
                    whole[place] = False
        words = np.ascontiguousarray(changes.words[:, whole])
        return TableChanges(changes.schema, changes.ops[whole], words)

    # Lines

    def _lines(self, session: SparkSession, paths: Sequence[Path]) -> pa.Table:
        """The lines, and the place of each."""
        text = (
            session.read.format("text").options(**self._format.options).load([local(path) for path in paths])
        )
        return text.selectExpr("value", *_WHERE).toArrow()

    def _of_lines(self, table: pa.Table, bad: _Bad) -> TableChanges:
        lines = table["value"].to_pylist()
        parts = [self._parsed([])]
        for start in range(0, len(lines), _CHUNK):
            parts += self._good(lines, start, min(start + _CHUNK, len(lines)), bad)
        return TableChanges.concat(parts)

    def _good(self, lines: Sequence[str], start: int, stop: int, bad: _Bad) -> list[TableChanges]:
        """The changes of some lines. Finds bad lines by halving."""
        try:
            return [self._parsed(lines[start:stop])]
        except (BadRequest, Invalid, InvalidValue) as error:
            if stop - start == 1:
                bad.add(start, error.message)
                return []
        middle = (start + stop) // 2
        return self._good(lines, start, middle, bad) + self._good(lines, middle, stop, bad)

    def _parsed(self, lines: Sequence[str]) -> TableChanges:
        """The changes in lines. Raises BadRequest, Invalid or InvalidValue."""
        definition = self._definition
        documents = [parse_json(line.encode()) for line in lines if line and not line.isspace()]
        if self._format.envelope == "debezium":
            changes = of_envelopes(documents, definition, self._dictionary, self._format.unit)
        else:
            changes = of_objects(documents, definition, self._dictionary)
        return definition.admitted(changes)


class _Bad:
    """Bad rows: counts them if they are skipped, otherwise reports the first by file and number."""

    def __init__(self, table: pa.Table, what: str, skip: bool) -> None:
        self.count = 0
        self._files = table[_FILE]
        self._what = what
        self._skip = skip

    def add(self, place: int, reason: str) -> None:
        """Raises Invalid, unless bad rows are skipped."""
        if self._skip:
            self.count += 1
            return
        file = self._files[place]
        number = pc.sum(pc.equal(self._files[: place + 1], file)).as_py()
        path = unquote(file.as_py()).rpartition("/")[2]
        raise Invalid(
            f"{path}, {self._what} {number}: {reason}",
            'use "bad_rows": "skip" to leave it out',
            code="bad_rows",
        )


def _ordered(table: pa.Table) -> pa.Table:
    """The rows sorted by file and block. Within a block Spark reads them in order."""
    keys = [(name, "ascending") for name in (_MODIFIED, _FILE, _BLOCK)]
    return table.take(pc.sort_indices(table, sort_keys=keys))
