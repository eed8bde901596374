"""The catalog's rows as Arrow files, one a table, and back into a database of either kind.

The files hold what the tables hold, so the kind of database does not matter. Numbers that were given to rows
(`relations.id` and the like) are never given again, also when their rows are gone: `numbers_given` keeps the
greatest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import sqlalchemy as sa

from service.accounts.account_tables import audit, keys, roles
from service.catalog.branch_records import branch_log, branches, merges
from service.catalog.branch_views import branch_views
from service.catalog.catalog import commits, idempotency_keys, log
from service.catalog.identity_counters import counters
from service.catalog.manifests import arrangements, batch_files, manifests, text_files
from service.catalog.records import layouts, relations
from service.catalog.replacement_records import replacements
from service.definitions.named_functions import functions
from service.definitions.named_schemas import schema_comments, schemas
from service.definitions.named_sequences import sequences
from service.definitions.named_types import types
from service.pipeline.catalog_tables import sinks, sources
from service.pipeline.jobs import RUNNING, jobs

TABLES: Mapping[str, sa.Table] = {
    str(table.name): table
    for table in (
        *(relations, layouts, schemas, schema_comments, types, functions, sequences, counters),
        *(commits, log, idempotency_keys),
        *(branches, branch_log, branch_views, merges, replacements),
        *(manifests, arrangements, batch_files, text_files),
        *(jobs, sources, sinks),
        *(keys, roles, audit),
    )
}
"""All tables of the catalog by name, but those about running services: who leads, what standbys follow."""
_TOGETHER, _TOGETHER_OF_LOG = 1_000, 4
"""Rows that are read at once; a row of the log may be large."""


@dataclass(frozen=True, eq=False)
class _Numbering:
    """A kind of database: how to ask for the greatest number that a table has given, and how to set it."""

    given: sa.TextClause
    give_after: tuple[sa.TextClause, ...]


_ON_SQLITE = _Numbering(
    sa.text("SELECT seq FROM sqlite_sequence WHERE name = :table"),
    (
        sa.text("DELETE FROM sqlite_sequence WHERE name = :table"),
        sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :number)"),
    ),
)
_ON_POSTGRESQL = _Numbering(
    sa.text("SELECT pg_sequence_last_value(CAST(pg_get_serial_sequence(:table, :column) AS regclass))"),
    (sa.text("SELECT setval(CAST(pg_get_serial_sequence(:table, :column) AS regclass), :number)"),),
)
_ARROW: tuple[tuple[type[sa.types.TypeEngine], pa.DataType], ...] = (
    (sa.Integer, pa.int64()),
    (sa.Text, pa.large_string()),
    (sa.LargeBinary, pa.large_binary()),
)


def dump_table(connection: sa.Connection, table: sa.Table, path: Path) -> None:
    """Writes a table's rows to a new file, without jobs that are running, which end with their service."""
    schema = pa.schema([(column.name, _arrow(column)) for column in table.columns])
    together = _TOGETHER_OF_LOG if table is log else _TOGETHER
    query = sa.select(table).order_by(*table.primary_key.columns)
    if table is jobs:
        query = query.where(jobs.c.state != RUNNING)
    found = connection.execute(query.execution_options(yield_per=together))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for rows in found.mappings().partitions():
            writer.write_batch(pa.RecordBatch.from_pylist([dict(row) for row in rows], schema))


def load_table(connection: sa.Connection, name: str, path: Path) -> None:
    """Inserts the rows of a file into the table of this name, which the database has.

    Raises pa.ArrowException, OSError, ValueError or SQLAlchemyError for a file that has no such rows: anybody
    may have written it, so that nothing in it is trusted.
    """
    table = sa.Table(name, sa.MetaData(), autoload_with=connection)
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            batch.validate(full=True)
            connection.execute(sa.insert(table), batch.to_pylist())


def numbers_given(connection: sa.Connection) -> dict[str, int]:
    """The greatest number that each numbered table has given to a row, by table; 0 for none."""
    return {name: _number_given(connection, column) for name, column in _numbered()}


def give_after(connection: sa.Connection, given: Mapping[str, int]) -> None:
    """Lets the numbered tables give the numbers after these."""
    for name, column in _numbered():
        if given.get(name):
            _set_number(connection, column, given[name])


def _numbered() -> list[tuple[str, sa.Column]]:
    """The tables that number their rows, with the column of the number."""
    found = ((name, table.autoincrement_column) for name, table in TABLES.items())
    return [(name, column) for name, column in found if column is not None]


def _number_given(connection: sa.Connection, column: sa.Column) -> int:
    values = {"table": column.table.name, "column": column.name}
    statements = _ON_SQLITE if connection.dialect.name == "sqlite" else _ON_POSTGRESQL
    return connection.execute(statements.given, values).scalar() or 0


def _set_number(connection: sa.Connection, column: sa.Column, number: int) -> None:
    values = {"table": column.table.name, "column": column.name, "number": number}
    statements = _ON_SQLITE if connection.dialect.name == "sqlite" else _ON_POSTGRESQL
    for statement in statements.give_after:
        connection.execute(statement, values)


def _arrow(column: sa.Column) -> pa.DataType:
    return next(arrow for kind, arrow in _ARROW if isinstance(column.type, kind))
