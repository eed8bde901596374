"""Answers of queries as readings, so that they can be written in every format that rows have.

A column of a DuckDB type that tables have is read from Arrow. Any other is written as JSON first, and gets
the type that the answer has in JSON.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from sqlglot import exp

from engine.codec.arrow import encode_column
from engine.codec.json import encode_rows
from engine.errors import InvalidValue
from engine.schema import Column, Schema
from engine.state.dictionary import Dictionary
from planner.sql_types import data_type
from service.errors import Invalid
from service.reading.duck import Answer
from service.reading.found_rows import FoundRows
from service.reading.results import column_type, column_values
from service.reading.row_readings import Reading


def answer_reading(answer: Answer, epoch: int) -> tuple[Reading, Dictionary]:
    """The rows of an answer in its order, and the dictionary of their texts.

    Raises Invalid if two columns have one name, InvalidValue for a value that no table can have.
    """
    _check_names(answer.names)
    if isinstance(answer, FoundRows):
        return answer.reading, answer.dictionary
    columns, words = [], []
    dictionary = Dictionary()
    for place, name in enumerate(answer.names):
        written = column_type(answer, place)
        column = Column(name, data_type(exp.DataType.build(written, dialect="postgres")))
        columns.append(column)
        array = answer.table.column(place).combine_chunks()
        words.append(_words(array, answer.types[place], written, column, dictionary))
    rows = answer.table.num_rows
    table = np.array(words, np.int64).reshape(len(columns), rows)
    return Reading(Schema(tuple(columns)), epoch, table, np.ones(rows, np.int64)), dictionary


def _words(array: pa.Array, type: str, written: str, column: Column, dictionary: Dictionary) -> np.ndarray:
    try:
        return np.asarray(encode_column(array, column, dictionary), np.int64)
    except (InvalidValue, pa.ArrowException):
        values = column_values(type, written, array)
        return encode_rows([(value,) for value in values], Schema((column,)), dictionary)[0]


def _check_names(names: tuple[str, ...]) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise Invalid(
                f"the result has two columns called {name}, which only JSON can tell apart",
                "name them with AS",
                code="duplicate_column",
            )
