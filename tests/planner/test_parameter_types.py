"""Parameters take the types that their places want, and their marks may stand close together."""

from __future__ import annotations

import pytest

from engine.schema import BIGINT, BOOLEAN, DATE, DOUBLE, TEXT, TIMESTAMPTZ, Column, Schema, numeric
from planner.parsing.script import split
from planner.statements.parameter_types import parameter_types

SCHEMA = Schema(
    (
        Column("id", BIGINT),
        Column("name", TEXT),
        Column("d", DATE),
        Column("v", DOUBLE),
        Column("n", numeric(10, 2)),
        Column("ts", TIMESTAMPTZ),
        Column("b", BOOLEAN),
    )
)
CASES = {
    "SELECT * FROM t WHERE id = $1 AND name LIKE $2 AND d > $3 LIMIT $4 OFFSET $5": (
        "BIGINT TEXT DATE BIGINT BIGINT"
    ),
    "SELECT * FROM t AS a WHERE $2 < a.v AND (a.id, a.name) = ($3, $1) AND $4": "TEXT DOUBLE BIGINT BOOLEAN",
    "SELECT * FROM t WHERE lower(name) = $1 AND id % 2 = $2 AND ts BETWEEN $3 AND $4": (
        "TEXT BIGINT TIMESTAMPTZ TIMESTAMPTZ"
    ),
    "SELECT * FROM t WHERE id IN ($1,$2) OR id = ANY($3) OR NOT $4": "BIGINT BIGINT BIGINT[] BOOLEAN",
    "INSERT INTO t VALUES ($1,$2,$3),($4,'x',$5)": "BIGINT TEXT DATE BIGINT DATE",
    "INSERT INTO t (name, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET name = $3": "TEXT BIGINT TEXT",
    "INSERT INTO t (id, name) SELECT $1, $2": "BIGINT TEXT",
    "UPDATE t SET v = v + $1, n = $2 WHERE id = $3": "DOUBLE NUMERIC(10,2) BIGINT",
    "DELETE FROM t WHERE v * 2 > $1 AND abs(id) = $2": "DOUBLE BIGINT",
    "SELECT $1::int, $2::text[], $3, $4::numeric": "INTEGER TEXT[] None NUMERIC(38,10)",
    "SELECT CASE WHEN id = $1 THEN $2 ELSE name END, coalesce($3, v), ts - $4, d + $5 FROM t": (
        "BIGINT TEXT DOUBLE INTERVAL INTEGER"
    ),
    "WITH x AS (SELECT n AS y FROM t) SELECT * FROM x WHERE y < $1": "NUMERIC(10,2)",
    "SELECT * FROM (SELECT count(*) AS c FROM t) AS q WHERE c > $1": "BIGINT",
    "SELECT $2": "None None",
    "SELECT nope($1), $1 + nope FROM missing": "None",
    "SELECT '$1', $$ $2 $$ FROM t": "",
}


@pytest.mark.parametrize("sql", CASES)
def test_a_parameter_takes_the_type_of_its_place(sql: str) -> None:
    (piece,) = split(sql)
    found = parameter_types(piece, lambda name: SCHEMA if name == "t" else None)
    shown = " ".join("".join(str(type).split()) for type in found)
    assert shown.replace("DOUBLEPRECISION", "DOUBLE") == CASES[sql]


@pytest.mark.parametrize(
    "sql", ["SELECT ($1,$2)", "SELECT $1,$2,$3", "SELECT $1||'$1,$2'||$2", "SELECT a$1,$2"]
)
def test_parameters_may_stand_close_together(sql: str) -> None:
    (piece,) = split(sql)
    assert piece.source == sql
    assert "\ue000" not in "".join(token.text for token in piece.tokens)


def test_dollar_quotes_are_still_quotes() -> None:
    (piece,) = split("SELECT $a$ $1,$2 $a$, $$1$$")
    assert [
        token.text for token in piece.tokens if token.token_type.name in ("HEREDOC_STRING", "STRING")
    ] == [
        " $1,$2 ",
        "1",
    ]
