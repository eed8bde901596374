"""A suite's tables in DuckDB, and random changes to them.

A change has the old and the new rows by table. It is drawn from the tables' rows, and already applied to them
when it is returned. Two instances of one seed with the same rows make the same changes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from bench.suite.schema import key
from planner.relation import Relation


@dataclass(frozen=True)
class Difference:
    """Rows of a table that go, and rows that come."""

    gone: pa.Table
    new: pa.Table

    @property
    def rows(self) -> int:
        return self.gone.num_rows + self.new.num_rows


Change = dict[str, Difference]


class Tables:
    """Tables with primary keys, empty at first."""

    def __init__(self, relations: Mapping[str, Relation], seed: int = 1) -> None:
        self.connection = duckdb.connect()
        # It merges two joins that differ in a projected column (DuckDB 2.0), and loses rows.
        self.connection.execute("SET disabled_optimizers = 'common_subplan'")
        self.rng = random.Random(f"tables {seed}")
        self._keys = {name: key(relation) for name, relation in relations.items()}
        for name, relation in relations.items():
            columns = ", ".join(f"{column.name} {column.type}" for column in relation.schema.columns)
            self.connection.execute(f"CREATE TABLE {name} ({columns})")

    def close(self) -> None:
        self.connection.close()

    def insert_all(self, queries: Mapping[str, str], given: pa.Table | None = None) -> Change:
        """Insert the rows of queries, by table. They may read `given`; none sees what another inserts."""
        new = {name: self.query(query, given) for name, query in queries.items()}
        return self._made({name: Difference(rows.slice(0, 0), rows) for name, rows in new.items()})

    def delete_all(self, rows: Mapping[str, pa.Table]) -> Change:
        """Delete existing rows, by table."""
        return self._made({name: Difference(gone, gone.slice(0, 0)) for name, gone in rows.items()})

    def remove(self, name: str, rows: int) -> Change:
        """Delete random rows of a table, whatever refers to them."""
        return self.delete_all({name: self.some(name, rows)})

    def alter(self, name: str, rows: int) -> Change:
        """Give random rows of a table some values of other rows, and NULL for some."""
        gone, donors = self.some(name, rows), self.some(name, rows).to_pylist()
        new = [
            {column: self._altered(name, column, value, donor[column]) for column, value in row.items()}
            for row, donor in zip(gone.to_pylist(), donors, strict=True)
        ]
        return self._made({name: Difference(gone, pa.Table.from_pylist(new, gone.schema))})

    def _altered(self, name: str, column: str, value: object, other: object) -> object:
        draw = self.rng.random()
        if column in self._keys[name] or draw > 0.4:
            return value
        return None if draw < 0.04 else other

    def some(self, name: str, rows: int) -> pa.Table:
        """Up to `rows` random rows of a table."""
        key = ", ".join(self._keys[name])
        return self.query(f"FROM {name} ORDER BY hash({key}, {self.rng.getrandbits(40)}), {key} LIMIT {rows}")

    def query(self, sql: str, given: pa.Table | None = None) -> pa.Table:
        if given is not None:
            self.connection.register("given", given)
        return self.connection.sql(sql).to_arrow_table()

    def _made(self, change: Change) -> Change:
        """Apply the change to the tables, and return it."""
        for name, difference in change.items():
            row = f"({', '.join(self._keys[name])})"
            self._run(f"DELETE FROM {name} WHERE {row} IN (SELECT {row} FROM given)", difference.gone)
            self._run(f"INSERT INTO {name} FROM given", difference.new)
        return {name: difference for name, difference in change.items() if difference.rows}

    def _run(self, sql: str, given: pa.Table) -> None:
        if given.num_rows:
            self.connection.register("given", given)
            self.connection.execute(sql)
