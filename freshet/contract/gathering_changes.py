"""Changes of several tables that are gathered to become one epoch.

They travel as JSON, so the rows of tables become Python's objects. Texts of JSON columns then have to become
JSON values, for which `json_columns` of each table are asked for before the changes are made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from freshet.contract.descriptions import TableDescription
from freshet.errors import InvalidRequestError
from freshet.values.row_bodies import (
    OPERATION,
    OPERATIONS,
    arrow_table,
    is_tabular,
    json_changes,
    json_rows,
    json_value,
)

JsonChange = dict[str, dict[str, object]]


@dataclass
class GatheredTable:
    """The changes of one table, in the order in which they were made."""

    name: str
    parts: list[list[JsonChange] | pa.Table] = field(default_factory=list)

    def insert(self, rows: object) -> None:
        self._add("insert", rows)

    def upsert(self, rows: object) -> None:
        self._add("upsert", rows)

    def delete(self, rows: object) -> None:
        self._add("delete", rows)

    def apply(self, changes: object) -> None:
        """Changes that name their operations: `{"upsert": {...}}`, or a table with a column `_op`."""
        if is_tabular(changes):
            self.parts.append(arrow_table(changes))
        else:
            self.parts.append(list(json_changes(changes)))

    def _add(self, operation: str, rows: object) -> None:
        if not is_tabular(rows):
            self.parts.append([{operation: row} for row in json_rows(rows)])
            return
        table = arrow_table(rows)
        if OPERATION in table.schema.names:
            raise InvalidRequestError(
                f"the table has a column {OPERATION}", "pass it to apply, which reads operations from there"
            )
        operations = pa.array([operation] * table.num_rows, pa.string())
        self.parts.append(table.append_column(OPERATION, operations))

    @property
    def is_tabular(self) -> bool:
        """Whether the table's description is needed."""
        return any(isinstance(part, pa.Table) for part in self.parts)

    def changes(self, description: TableDescription | None) -> Iterator[JsonChange]:
        """All changes, ready for JSON. `description` is needed if `is_tabular`."""
        described = {column.name: column.type for column in description.columns} if description else {}
        texts = {name for name, type in described.items() if type == "JSON"}
        for part in self.parts:
            yield from _changes(part, texts) if isinstance(part, pa.Table) else part


class GatheredChanges:
    """What `changing()` hands out. After its end, `epoch` is the one that the changes became."""

    def __init__(self) -> None:
        self._tables: dict[str, GatheredTable] = {}
        self.epoch: int | None = None

    def table(self, name: str) -> GatheredTable:
        return self._tables.setdefault(name, GatheredTable(name))

    @property
    def described(self) -> list[str]:
        """The tables whose descriptions are needed."""
        return [name for name, table in self._tables.items() if table.is_tabular]

    def bodies(self, describe: Callable[[str], TableDescription | None]) -> dict[str, list[JsonChange]]:
        """The changes of every table that has some."""
        made = {name: list(table.changes(describe(name))) for name, table in self._tables.items()}
        return {name: changes for name, changes in made.items() if changes}


def _changes(table: pa.Table, texts: set[str]) -> Iterator[JsonChange]:
    for row in table.to_pylist():
        operation = row.pop(OPERATION, None) or "insert"
        if operation not in OPERATIONS:
            raise InvalidRequestError(
                f"{OPERATION} {operation!r} is not an operation", "insert, upsert or delete"
            )
        yield {operation: {name: _value(value, name in texts) for name, value in row.items()}}


def _value(value: object, is_json: bool) -> object:
    return json.loads(value) if is_json and isinstance(value, str) else json_value(value)
