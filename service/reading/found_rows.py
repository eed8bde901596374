"""Answers of point reads: rows as words, which become Arrow or JSON when somebody asks."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from engine.codec import decode_arrow, decode_rows
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from planner.sql_types import duckdb_type
from service.reading.duck import Answer
from service.reading.given_tables import typed
from service.reading.row_readings import Reading


class AnswerColumns:
    """The columns of an answer: `schema` names them, `types` are DuckDB's, `columns` are JSON's."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.types = tuple(map(duckdb_type, schema.types))
        self.columns = [{"name": column.name, "type": str(column.type)} for column in schema.columns]


class FoundRows(Answer):
    """The rows `words` int64[W, n] at an epoch. `dictionary` has their texts; `texts` keeps them there."""

    def __init__(
        self, shown: AnswerColumns, epoch: int, words: np.ndarray, dictionary: Dictionary, texts: object
    ) -> None:
        own = self.__dict__
        own["names"], own["types"], own["shown"] = shown.schema.names, shown.types, shown
        own["epoch"], own["words"] = epoch, np.ascontiguousarray(words)
        own["dictionary"], own["texts"] = dictionary, texts

    shown: AnswerColumns
    epoch: int
    words: np.ndarray
    dictionary: Dictionary
    texts: object

    @cached_property
    def table(self) -> pa.Table:  # type: ignore[override]
        """The rows in Arrow's form."""
        schema = self.shown.schema
        return typed(decode_arrow(self.words, schema, self.dictionary), schema.types)

    @property
    def reading(self) -> Reading:
        """The rows as a reading."""
        counts = np.ones(self.size, np.int64)
        return Reading(self.shown.schema, self.epoch, self.words, counts, None, self.texts)

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.words.shape[1]

    def document(self, start: int = 0, stop: int | None = None) -> tuple[list[dict[str, str]], list[list]]:
        """The columns and the rows from `start` to `stop`, ready for JSON."""
        words = np.ascontiguousarray(self.words[:, start:stop])
        rows = decode_rows(words, self.shown.schema, self.dictionary)
        return self.shown.columns, [list(row) for row in rows]
