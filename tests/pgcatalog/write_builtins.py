"""Writes `service/pgcatalog/builtin`: what PostgreSQL 15 itself has in its catalogs, asked of one.

Run as `python -m tests.pgcatalog.write_builtins` where PostgreSQL 15 is installed. `relations.tsv` has a line
for each relation: schema, name, OID, kind, and its columns with their types, `!` after a type that is never
NULL. Every other file has those rows of one catalog that drivers and tools ask for, under its columns.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import psycopg

from bench.wire.own_postgres import programs
from tests.postgres.server import running

TARGET = Path(__file__).resolve().parents[2] / "service" / "pgcatalog" / "builtin"
_RELATIONS = """
SELECT n.nspname, c.relname, c.oid, c.relkind, string_agg(
    a.attname || ' ' || CASE WHEN t.typlen = -1 AND t.typname LIKE '\\_%' THEN substr(t.typname, 2) || '[]'
    ELSE t.typname END || CASE WHEN a.attnotnull THEN '!' ELSE '' END, ',' ORDER BY a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 JOIN pg_type t ON t.oid = a.atttypid
WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')
GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2"""
_TYPES = """SELECT oid FROM pg_type WHERE typtype <> 'c'
    AND typelem NOT IN (SELECT oid FROM pg_type WHERE typtype = 'c')"""
_STORED = """SELECT oid FROM pg_type WHERE typname IN ('bool', 'int2', 'int4', 'int8', 'numeric', 'float4',
    'float8', 'text', 'name', 'char', 'oid', 'date', 'time', 'timestamp', 'timestamptz', 'interval', 'bytea',
    'uuid', 'json', 'anyarray', 'bpchar', 'varchar')"""
_KEYED = "('btree', 'hash')"
_ROWS = {
    "pg_type": f"SELECT * FROM pg_type WHERE oid IN ({_TYPES}) ORDER BY oid",
    "pg_proc": f"""SELECT * FROM pg_proc WHERE oid IN (
        SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze,
                            typsubscript]) FROM pg_type WHERE oid IN ({_TYPES}))
        OR oid IN (SELECT amhandler FROM pg_am)
        OR oid IN (SELECT castfunc FROM pg_cast WHERE castsource IN ({_STORED}) AND casttarget IN ({_STORED}))
        OR proname IN ('enum_in', 'enum_out', 'enum_recv', 'enum_send') ORDER BY oid""",
    "pg_operator": f"""SELECT * FROM pg_operator WHERE oprleft IN (SELECT 0 UNION ALL {_STORED})
        AND oprright IN ({_STORED}) ORDER BY oid""",
    "pg_cast": f"""SELECT * FROM pg_cast
        WHERE castsource IN ({_STORED}) AND casttarget IN ({_STORED}) ORDER BY oid""",
    "pg_am": "SELECT * FROM pg_am ORDER BY oid",
    "pg_opclass": f"""SELECT * FROM pg_opclass WHERE opcintype IN ({_STORED})
        AND opcmethod IN (SELECT oid FROM pg_am WHERE amname IN {_KEYED}) ORDER BY oid""",
    "pg_opfamily": f"""SELECT * FROM pg_opfamily
        WHERE opfmethod IN (SELECT oid FROM pg_am WHERE amname IN {_KEYED}) ORDER BY oid""",
    "pg_collation": "SELECT * FROM pg_collation WHERE oid IN (100, 950, 951) ORDER BY oid",
    "pg_language": "SELECT * FROM pg_language WHERE lanname IN ('internal', 'sql') ORDER BY oid",
    "pg_range": "SELECT * FROM pg_range ORDER BY rngtypid",
    "pg_tablespace": "SELECT * FROM pg_tablespace ORDER BY oid",
}
_NUMBERS = {"regproc": "oid", "regtype": "oid"}


def main() -> None:
    where = programs()
    if where is None:
        sys.exit("initdb is not installed")
    TARGET.mkdir(exist_ok=True)
    with running(where) as server, server.connect("template1") as connection:
        _write("relations", connection.execute(_RELATIONS).fetchall(), ())
        for name, query in _ROWS.items():
            _write(name, *_rows(connection, name, query))


def _rows(connection: psycopg.Connection, name: str, query: str) -> tuple[list, list[str]]:
    """The rows as texts; OIDs of functions and types as numbers, NULL as \\N."""
    types = connection.execute(
        "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass "
        "AND attnum > 0 ORDER BY attnum",
        [name],
    ).fetchall()
    texts = ", ".join(f'"{column}"::{_NUMBERS.get(type, type)}::text' for column, type in types)
    rows = connection.execute(f"SELECT {texts} FROM ({query}) AS rows").fetchall()
    return [[r"\N" if text is None else text for text in row] for row in rows], [c for c, _ in types]


def _write(name: str, rows: list, header: list[str] | tuple) -> None:
    with (TARGET / f"{name}.tsv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
        writer.writerows([header, *rows] if header else rows)


if __name__ == "__main__":
    main()
