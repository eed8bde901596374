"""Writes `service/pgcatalog/builtin`: what PostgreSQL 15 itself has in its catalogs, asked of one.

Run as `python -m tests.pgcatalog.write_builtins` where PostgreSQL 15 is installed. `relations.tsv` has a line
for each relation: schema, name, OID, kind, and its columns with their types. After a type, `^` says that the
column has the collation "C", `~` the default one, and `!` that it is never NULL. Every other file has rows of
one catalog under its columns: about the catalogs themselves, and what queries of tools can come across.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import psycopg

from bench.wire.own_postgres import programs
from planner.allowed.open_functions import IN_QUERIES, TABLE_FUNCTIONS
from planner.catalog_queries.catalog_functions import FUNCTIONS, ROWS
from service.pgcatalog.server_settings import DEFAULTS
from tests.postgres.server import running

TARGET = Path(__file__).resolve().parents[2] / "service" / "pgcatalog" / "builtin"
_RELATIONS = """
SELECT n.nspname, c.relname, c.oid, c.relkind, string_agg(
    a.attname || ' ' || CASE WHEN t.typlen = -1 AND t.typname LIKE '\\_%' THEN substr(t.typname, 2) || '[]'
    ELSE t.typname END || CASE a.attcollation WHEN 950 THEN '^' WHEN 100 THEN '~' ELSE '' END
    || CASE WHEN a.attnotnull THEN '!' ELSE '' END, ',' ORDER BY a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 JOIN pg_type t ON t.oid = a.atttypid
WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')
GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2"""
_CALLED = ",".join(sorted({*IN_QUERIES, *TABLE_FUNCTIONS, *FUNCTIONS, *ROWS}))
_NAMED = f"""SELECT oid FROM pg_proc WHERE oid IN (
    SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze,
    typsubscript]) FROM pg_type UNION ALL SELECT amhandler FROM pg_am UNION ALL SELECT castfunc FROM pg_cast
    UNION ALL SELECT unnest(ARRAY[oprcode, oprrest, oprjoin]) FROM pg_operator)
    OR proname IN ('enum_in', 'enum_out', 'enum_recv', 'enum_send')
    OR (pronamespace = 11 AND proname = ANY ('{{{_CALLED}}}'))"""
_UNDER = "NOT IN (SELECT oid FROM pg_namespace WHERE nspname = 'pg_toast')"
_DESCRIBED = "('pg_am', 'pg_language', 'pg_namespace', 'pg_operator', 'pg_type')"
_ROWS = {
    "pg_type": f"SELECT * FROM pg_type WHERE typnamespace {_UNDER}",
    "pg_class": f"""SELECT oid, relname, relnamespace, reltype, relowner, relam, reltablespace, relhasindex,
        relisshared, relpersistence, relkind, relnatts, relhasrules, relispopulated, relreplident, relacl
        FROM pg_class WHERE relnamespace {_UNDER}""",
    "pg_index": f"""SELECT i.*, pg_get_indexdef(indexrelid) AS indexdef FROM pg_index i
        WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace {_UNDER})""",
    "pg_constraint": """SELECT oid, conname, connamespace, contype, condeferrable, condeferred, convalidated,
        conrelid, contypid, conindid, confupdtype, confdeltype, confmatchtype, conislocal, coninhcount,
        connoinherit, conkey, pg_get_expr(conbin, 0) AS conbin,
        pg_get_constraintdef(oid) AS text FROM pg_constraint""",
    "pg_proc": f"""SELECT oid, proname, pronamespace, proowner, prolang, procost, prorows, provariadic,
        prosupport, prokind, prosecdef, proleakproof, proisstrict, proretset, provolatile, proparallel,
        pronargs, pronargdefaults, prorettype, proargtypes, proallargtypes, proargmodes, proargnames,
        nullif(oid::regproc::text, proname) AS regproc
        FROM pg_proc WHERE oid IN ({_NAMED})""",
    "pg_description": f"""SELECT objoid, classoid, objsubid, description FROM pg_description
        WHERE classoid IN (SELECT oid FROM pg_class WHERE relname IN {_DESCRIBED})""",
    "pg_collation": "SELECT * FROM pg_collation WHERE oid IN (100, 950, 951)",
    "pg_language": "SELECT * FROM pg_language WHERE lanname IN ('internal', 'c', 'sql')",
    "pg_settings": f"""SELECT name, unit, category, short_desc, extra_desc, context, vartype, min_val,
        max_val, enumvals FROM pg_settings WHERE name = ANY ('{{{",".join(DEFAULTS)}}}')""",
    **{
        name: f"SELECT * FROM {name}"
        for name in (
            *("pg_am", "pg_cast", "pg_namespace", "pg_opclass", "pg_operator", "pg_opfamily", "pg_range"),
            "pg_tablespace",
        )
    },
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
    """The rows as texts, in the order of their first columns; OIDs of functions and types as numbers, NULL as
    \\N, and the first superuser under the name that it has here."""
    columns = connection.execute(f"{query} LIMIT 0").description or ()
    codes = [column.type_code for column in columns]
    (names,) = connection.execute(
        "SELECT array_agg(format_type(code, NULL) ORDER BY place) "
        "FROM unnest(%s::oid[]) WITH ORDINALITY AS t (code, place)",
        [codes],
    ).fetchone() or ([],)
    types = list(zip((column.name for column in columns), names, strict=True))
    texts = ", ".join(f'"{column}"::{_NUMBERS.get(type, type)}::text' for column, type in types)
    rows = connection.execute(f"SELECT {texts} FROM ({query}) AS rows ORDER BY 1, 2, 3").fetchall()
    told = [
        [
            r"\N" if text is None else text.replace("postgres=", "admin=").replace("/postgres", "/admin")
            for text in row
        ]
        for row in rows
    ]
    return told, [column for column, _ in types]


def _write(name: str, rows: list, header: list[str] | tuple) -> None:
    with (TARGET / f"{name}.tsv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
        writer.writerows([header, *rows] if header else rows)


if __name__ == "__main__":
    main()
