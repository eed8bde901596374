"""INSERT, UPDATE and DELETE: what a statement changes, as changes of its table.

A `Change` is prepared before the writer's turn comes and evaluated in it, over the
newest state, so that no update is lost. The rows of an INSERT of plain values need no
evaluation: `Change.plain` has them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from sqlglot import exp

from engine.codec.arrow import encode_arrow
from engine.codec.json import encode_rows
from engine.dictionary import Dictionary
from engine.errors import InvalidValue
from engine.schema import NULL, Schema
from planner.adhoc import AdhocQuery, unknown_table
from planner.dml import (
    cells,
    delete_query,
    insert_columns,
    insert_query,
    only_column,
    update_query,
    values_query,
)
from planner.errors import InvalidQuery
from planner.literals import plain_rows
from planner.positions import fail
from planner.statements import Delete, Insert, Update
from planner.types import duckdb_type
from service.adhoc import Sight
from service.changes import Op, TableChanges
from service.definitions import Definition
from service.duck import Answer
from service.errors import Conflict


@dataclass(frozen=True, eq=False)
class Change:
    """What a statement does to the table of `definition`; `queries` are all that it will ask.

    `plain` is what it does if that needs no evaluation; `evaluate` gives the changes and
    how many rows the statement counts.
    """

    definition: Definition
    queries: tuple[AdhocQuery, ...]
    evaluate: Callable[[Sight], tuple[TableChanges, int]]
    plain: TableChanges | None = None
    conflict: Callable[[Conflict], Conflict] = lambda error: error

    def apply(self, sight: Sight) -> int:
        """Makes the changes part of the transaction of the sight; the rows that the statement counts."""
        name = self.definition.name
        found = sight.definitions.get(name)
        if found is None or found.id != self.definition.id:
            raise Conflict(f"table {name} was dropped meanwhile", code="table_dropped")
        changes, count = self.evaluate(sight)
        try:
            sight.changing().apply({name: changes})
        except Conflict as error:
            raise self.conflict(error) from None
        return count


def prepare(
    statement: Insert | Update | Delete, definitions: Mapping[str, Definition], dictionary: Dictionary
) -> Change:
    """The change that a statement makes; a PlannerError or InvalidValue if it is already seen to be wrong."""
    definition = _table(statement, definitions)
    match statement:
        case Insert(query=exp.Values() as values):
            return _insert_values(statement, values, definition, definitions, dictionary)
        case Insert():
            return _insert_query(statement, definition, definitions)
        case Update():
            return _update(statement, definition, definitions)
        case Delete():
            return _delete(statement, definition, definitions)


def _table(statement: Insert | Update | Delete, definitions: Mapping[str, Definition]) -> Definition:
    """The table that the statement changes; UnknownTable or InvalidQuery, placed."""
    found = definitions.get(statement.table)
    if found is None:
        fail(unknown_table(statement.table, definitions), statement.tree.this)
    if found.is_view:
        fail(InvalidQuery(f"{found.name} is a view: its rows follow from its query"), statement.tree.this)
    return found


def _insert_values(
    statement: Insert,
    values: exp.Values,
    definition: Definition,
    definitions: Mapping[str, Definition],
    dictionary: Dictionary,
) -> Change:
    places = insert_columns(statement, definition.schema)
    for row in values.expressions:
        _check_width(len(cells(row)), places, row)
    types = [definition.schema.types[i] for i in places]
    plain = plain_rows(values, types)
    if plain is not None:
        words = encode_rows(plain, _columns(definition, places), dictionary)
        changes = TableChanges.of(Op.INSERT, definition.schema, _whole_rows(words, definition, places))
        return Change(definition, (), lambda sight: (changes, len(changes)), changes)
    query = values_query(values, types, definitions)

    def evaluate(sight: Sight) -> tuple[TableChanges, int]:
        try:
            answer = sight.ask(query)
        except InvalidValue:
            for place, column in enumerate(places):
                alone = values_query(only_column(values, place), types[place : place + 1], definitions)
                with _naming(definition.schema.names[column]):
                    sight.ask(alone)
            raise
        return _insertion(answer, sight, definition, places)

    return Change(definition, (query,), evaluate)


def _insert_query(statement: Insert, definition: Definition, definitions: Mapping[str, Definition]) -> Change:
    places = insert_columns(statement, definition.schema)
    query = insert_query(statement, definitions)

    def evaluate(sight: Sight) -> tuple[TableChanges, int]:
        answer = sight.ask(query)
        _check_width(len(answer.names), places, statement.query)
        return _insertion(answer, sight, definition, places)

    return Change(definition, (query,), evaluate)


def _insertion(
    answer: Answer, sight: Sight, definition: Definition, places: tuple[int, ...]
) -> tuple[TableChanges, int]:
    words = _whole_rows(_encoded(answer, sight, definition, places), definition, places)
    changes = TableChanges.of(Op.INSERT, definition.schema, words)
    return changes, len(changes)


def _update(statement: Update, definition: Definition, definitions: Mapping[str, Definition]) -> Change:
    assignments = update_query(statement, definition.schema, definitions)

    def evaluate(sight: Sight) -> tuple[TableChanges, int]:
        answer = sight.ask(assignments.query)
        rows = answer.table.column(0).to_numpy()
        if len(np.unique(rows)) < len(rows):
            raise InvalidQuery(
                f"the update gives a row of table {definition.name} several new values",
                "each row may meet one row of FROM, or several that agree",
            )
        values = Answer(answer.names[1:], answer.types[1:], answer.table.remove_column(0))
        words, counts = sight.rows(definition.name)
        before, counts = words[:, rows], counts[rows]
        after = before.copy()
        after[list(assignments.columns)] = _encoded(values, sight, definition, assignments.columns)
        schema = definition.schema
        changes = TableChanges.concat(
            [
                TableChanges.of(Op.DELETE, schema, np.repeat(before, counts, axis=1)),
                TableChanges.of(Op.INSERT, schema, np.repeat(after, counts, axis=1)),
            ]
        )
        return changes, int(counts.sum())

    def conflict(error: Conflict) -> Conflict:
        if error.code != "key_exists":
            return error
        return Conflict(
            f"the update gives two rows of table {definition.name} one primary key", code="key_exists"
        )

    return Change(definition, (assignments.query,), evaluate, conflict=conflict)


def _delete(statement: Delete, definition: Definition, definitions: Mapping[str, Definition]) -> Change:
    query = delete_query(statement, definition.schema, definitions)

    def evaluate(sight: Sight) -> tuple[TableChanges, int]:
        rows = np.unique(sight.ask(query).table.column(0).to_numpy())
        words, counts = sight.rows(definition.name)
        gone = np.repeat(words[:, rows], counts[rows], axis=1)
        changes = TableChanges.of(Op.DELETE, definition.schema, gone)
        return changes, len(changes)

    return Change(definition, (query,), evaluate)


def _check_width(width: int, places: tuple[int, ...], node: exp.Expression) -> None:
    if width != len(places):
        values = f"{width} value{'s' if width != 1 else ''}"
        columns = f"{len(places)} column{'s' if len(places) != 1 else ''}"
        fail(InvalidQuery(f"{values} for {columns}"), node)


def _columns(definition: Definition, places: tuple[int, ...]) -> Schema:
    """The columns at the places; that they are not NULL is for the table to check."""
    columns = (definition.schema.columns[i] for i in places)
    return Schema(tuple(replace(column, nullable=True) for column in columns))


def _whole_rows(words: np.ndarray, definition: Definition, places: tuple[int, ...]) -> np.ndarray:
    """Rows of all columns, NULL in those that are not in the words."""
    rows = np.full((len(definition.schema), words.shape[1]), NULL, np.int64)
    rows[list(places)] = words
    return rows


def _encoded(answer: Answer, sight: Sight, definition: Definition, places: tuple[int, ...]) -> np.ndarray:
    """The answer's columns as words of the table's columns at the places; InvalidValue names the column."""
    schema = _columns(definition, places)
    types = tuple(duckdb_type(type) for type in schema.types)
    try:
        table = sight.duck.cast(answer, types)
    except InvalidValue:
        for i, column in enumerate(schema.columns):
            with _naming(column.name):
                one = Answer(answer.names[i : i + 1], answer.types[i : i + 1], answer.table.select([i]))
                sight.duck.cast(one, types[i : i + 1])
        raise
    return encode_arrow(table, schema, sight.dictionary)


@contextmanager
def _naming(column: str) -> Iterator[None]:
    """Puts the column's name before an InvalidValue."""
    try:
        yield
    except InvalidValue as error:
        raise InvalidValue(f"column {column}: {error.message}", error.hint) from None
