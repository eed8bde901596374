"""Answers of point reads: rows as words, which become Arrow or JSON when somebody asks."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from engine.codec.arrow import decode_named
from engine.codec.json import decode_rows
from engine.codec.numerals import are_special
from engine.schema import Column, Schema
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
        """The rows in Arrow's form; numbers among which there is NaN or an infinity as their texts."""
        schema = self.shown.schema
        pairs = zip(self.words, schema.columns, strict=True)
        arrays = [self._array(words, column) for words, column in pairs]
        return typed(pa.table(arrays, names=list(schema.names)), schema.types)

    def _array(self, words: np.ndarray, column: Column) -> pa.Array:
        if column.type.has_specials and are_special(words, self.dictionary).any():
            rows = decode_rows(words[np.newaxis], Schema((column,)), self.dictionary)
            return pa.array([text for (text,) in rows], pa.string())
        return decode_named(words, column, self.dictionary)

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
