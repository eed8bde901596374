"""Columns of bits with a length, and bits in statements outside of views."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.service.client import Client

TABLE = "CREATE TABLE flags (id BIGINT PRIMARY KEY, a BIT(3), b BIT VARYING(5), c BIT, d VARBIT NOT NULL)"
GOOD = "(1, B'101', B'1', B'1', '00000000'), (2, NULL, X'F', '0', B'1')"
BAD = ("(3, B'10', NULL, NULL, B'1')", "(3, NULL, B'111111', NULL, B'1')", "(3, NULL, NULL, B'10', B'1')")


def ask(service: Client, sql: str) -> list[list[object]]:
    answered = service.post("/v1/sql", {"sql": sql})
    assert answered.status_code == 200, answered.text
    return answered.json()["results"][-1].get("rows", [])


def test_a_length_is_kept(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        ask(service, f"{TABLE}; INSERT INTO flags VALUES {GOOD}")
    with Client(Settings(data=tmp_path)) as service:
        for row in BAD:
            answered = service.post("/v1/sql", {"sql": f"INSERT INTO flags VALUES {row}"})
            assert answered.status_code == 422, answered.text
            assert answered.json()["code"] == "check_violated"
        empty = service.deltas("flags", {"insert": {"id": 3, "d": ""}})
        assert empty.status_code == 422
        assert "zeros and ones are expected" in empty.json()["detail"]
        rows = ask(service, "SELECT a, b, c, d FROM flags ORDER BY id")
        assert rows == [["101", "1", "1", "00000000"], [None, "1111", "0", "1"]]


@pytest.mark.parametrize("written", ["a BIT(0)", "a BIT(3)[]", "a BIT(x)", "a BIT VARYING(0)"])
def test_a_type_that_has_no_meaning_is_refused(tmp_path: Path, written: str) -> None:
    with Client(Settings(data=tmp_path)) as service:
        answered = service.post("/v1/sql", {"sql": f"CREATE TABLE t ({written})"})
        assert answered.status_code == 422, answered.text


def test_statements_mean_what_views_mean(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        ask(service, f"{TABLE}; INSERT INTO flags VALUES {GOOD}")
        said = "id, d::bit(4) AS x, d::bit varying(2) AS y, id::int::bit(3) AS z, bit_count(d) AS n, ~d AS r"
        ask(service, f"CREATE VIEW v AS SELECT {said} FROM flags")
        rows = ask(service, f"SELECT {said} FROM flags ORDER BY id")
        assert rows == ask(service, "SELECT * FROM v ORDER BY id")
        assert rows == [[1, "0000", "00", "001", 0, "11111111"], [2, "1000", "1", "010", 1, "0"]]
        assert ask(service, "SELECT B'101' & B'110', X'1F', B'1' || B'0', get_bit(B'01', 1)") == [
            ["100", "00011111", "10", 1]
        ]
        ask(
            service,
            "UPDATE flags SET d = d << 1 WHERE a = '101' OR d = B'1'; DELETE FROM flags WHERE c = '0'",
        )
        assert ask(service, "SELECT max(d), count(*) FROM flags WHERE d >= B'0'") == [["00000000", 1]]


def test_the_dialect_duckdb_has_bits_of_any_length(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        ask(service, "CREATE TABLE t (id INTEGER PRIMARY KEY, b BIT)")
        body = {
            "name": "v",
            "sql": "SELECT id, b & '011'::BIT AS x, bit_count(b) AS n FROM t",
            "dialect": "duckdb",
        }
        assert service.post("/v1/views", body).status_code == 201
        answered = service.post("/v1/sql", {"sql": "CREATE TABLE u (b BIT)", "dialect": "duckdb"})
        assert answered.status_code == 200, answered.text
        for bits in ("101", "0", "1111"):
            assert service.deltas("u", {"insert": {"b": bits}}).status_code == 200
        assert sorted(service.rows("u")) == [("0",), ("101",), ("1111",)]


def test_bits_of_any_length_are_not_cut(tmp_path: Path) -> None:
    """A type that is written back, into a cast or a statement, is not the BIT of one bit."""
    with Client(Settings(data=tmp_path)) as service:
        ask(
            service,
            "CREATE TABLE t (id INTEGER PRIMARY KEY, b BIT VARYING DEFAULT B'101', c BIT(2) DEFAULT B'10')",
        )
        ask(service, "INSERT INTO t (id) VALUES (1)")
        assert ask(service, "SELECT b, c FROM t") == [["101", "10"]]
        body = "RETURNS bit varying LANGUAGE SQL AS 'SELECT x << 1'"
        ask(service, f"CREATE FUNCTION f(x bit varying) {body}; CREATE VIEW v AS SELECT f(b) AS b FROM t")
        assert ask(service, "SELECT f(B'011'), NULL::bit(3), NULL::varbit") == [["110", None, None]]
        assert service.rows("v") == [("010",)]
        ((_, text),) = ask(service, "SHOW CREATE TABLE t")
        ask(service, str(text).replace("TABLE t ", "TABLE again "))
        ask(service, "INSERT INTO again (id) VALUES (1)")
        assert ask(service, "SELECT b, c FROM again") == [["101", "10"]]
        short = service.post("/v1/sql", {"sql": "INSERT INTO again (id, c) VALUES (2, B'1')"})
        assert short.json()["code"] == "check_violated"


def test_literals_of_bits_in_views_are_bits(tmp_path: Path) -> None:
    made = (
        "a & B'011' AS p, B'110' | a AS q, d # X'03' AS r, ~B'01' AS s, B'01' # B'11' AS t, "
        "a << 1 & B'011' AS u, bit_count(X'1F') AS v, length(X'1F') AS w, length(B'0011') AS x, "
        "substring(X'1F' FROM 5 FOR 2) AS y, coalesce(c, B'0') AS z"
    )
    with Client(Settings(data=tmp_path)) as service:
        ask(
            service,
            f"{TABLE}; INSERT INTO flags VALUES (1, B'101', NULL, NULL, X'0F'), (2, NULL, NULL, B'1', X'01')",
        )
        ask(service, f"CREATE VIEW v AS SELECT id, {made} FROM flags")
        rows = ask(service, "SELECT * FROM v ORDER BY id")
        assert rows == ask(service, f"SELECT id, {made} FROM flags ORDER BY id")
        assert rows[0] == [1, "001", "111", "00001100", "10", "10", "010", 5, 8, 4, "11", "0"]
        assert rows[1] == [2, None, None, "00000010", "10", "10", None, 5, 8, 4, "11", "1"]
