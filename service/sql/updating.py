"""The rows of UPDATE and DELETE as words, and their changes in a transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
from sqlglot import exp

from engine.codec.arrow import encode_arrow
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.schema import Schema
from planner.adhoc.dml_queries import Assignments
from planner.errors import InvalidQuery
from planner.positions import fail
from planner.sql_types import duckdb_type
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Conflict
from service.reading.duck import Answer
from service.sql.sight import Sight
from service.writing.transaction import Meaning, replacing


def check_assigned(assignments: Assignments, definition: Definition, node: exp.Expression) -> None:
    """Raises InvalidQuery if a column is set that the table computes itself."""
    check_writable([c for c in assignments.columns if c not in assignments.defaults], definition, node)


def check_writable(columns: Sequence[int], definition: Definition, node: exp.Expression) -> None:
    """Raises InvalidQuery if one of the columns is generated, because only DEFAULT may be given for it."""
    filling = definition.filling
    for column in columns:
        if filling is not None and (column in filling.generated or column in filling.always):
            name = definition.schema.names[column]
            fail(
                InvalidQuery(f"column {name} is generated: it cannot be given a value", "leave it out"), node
            )


def assigned(
    assignments: Assignments, definition: Definition, sight: Sight, given: pa.Table | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The places int64[n] of rows, and the new words int64[A, n] of their assigned columns."""
    answer = sight.ask(assignments.query, given=given)
    rows = answer.table.column(0).to_numpy()
    values = Answer(answer.names[1:], answer.types[1:], answer.table.remove_column(0))
    words = encoded(values, sight, definition, assignments.columns)
    if assignments.defaults:
        defaults = definition.defaults()
        for place, column in enumerate(assignments.columns):
            if column in assignments.defaults:
                words[place] = defaults[column]
    return rows, words


def update_rows(definition: Definition, before: np.ndarray, after: np.ndarray, sight: Sight) -> np.ndarray:
    """Replaces rows. Returns the rows as the table stores them. Raises Conflict for a duplicate key."""
    schema, name = definition.schema, definition.name
    try:
        applied = sight.changing().apply({name: replacing(schema, before, after)}, Meaning.UPDATE)
    except Conflict as error:
        if error.code != "key_exists":
            raise
        raise Conflict(
            f"the update gives two rows of table {name} one primary key", code="key_exists"
        ) from None
    return applied[name].words[:, before.shape[1] :]


def change_portions(
    definition: Definition, before: np.ndarray, within: np.ndarray, new: np.ndarray, sight: Sight
) -> np.ndarray:
    """Replaces rows int64[W, n] by `new` ones during the periods of `within`, and by themselves before and
    after. Returns the new rows as the table stores them."""
    since, until = definition.period or (0, 0)
    first, last = before.copy(), before.copy()
    first[until] = within[since]
    last[since] = within[until]
    is_earlier = before[since] < within[since]
    is_later = (within[until] != NULL) & ((before[until] == NULL) | (before[until] > within[until]))
    rest = np.concatenate((first[:, is_earlier], last[:, is_later]), axis=1)
    name, schema = definition.name, definition.schema
    changes = replacing(schema, before, np.concatenate((new, rest), axis=1))
    applied = sight.changing().apply({name: changes}, Meaning.CHANGES)[name].words
    return applied[:, before.shape[1] : before.shape[1] + new.shape[1]]


def delete_rows(definition: Definition, gone: np.ndarray, sight: Sight) -> None:
    changes = TableChanges.of(ChangeOp.DELETE, definition.schema, gone)
    sight.changing().apply({definition.name: changes})


def encoded(answer: Answer, sight: Sight, definition: Definition, places: tuple[int, ...]) -> np.ndarray:
    """The answer as words of the table's columns at the places. InvalidValue names the column."""
    schema = nullable(definition, places)
    types = tuple(duckdb_type(type) for type in schema.types)
    try:
        table = sight.duck.cast(answer, types)
    except InvalidValue:
        for i, column in enumerate(schema.columns):
            with naming(column.name):
                one = Answer(answer.names[i : i + 1], answer.types[i : i + 1], answer.table.select([i]))
                sight.duck.cast(one, types[i : i + 1])
        raise
    return encode_arrow(table, schema, sight.dictionary)


def nullable(definition: Definition, places: Sequence[int]) -> Schema:
    """The columns at the places, all nullable; the table checks NOT NULL later."""
    columns = (definition.schema.columns[i] for i in places)
    return Schema(tuple(replace(column, nullable=True) for column in columns))


@contextmanager
def naming(column: str) -> Iterator[None]:
    """Puts the column's name before the message of an InvalidValue."""
    try:
        yield
    except InvalidValue as error:
        raise InvalidValue(f"column {column}: {error.message}", error.hint) from None
