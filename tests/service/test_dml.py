"""Random INSERTs, UPDATEs and DELETEs have the same effect on a table as in DuckDB.

DuckDB runs the same text over tables without keys. If that leaves two rows with one primary key, the
statement must be refused here, and must change nothing.
"""

from __future__ import annotations

import random
from collections import Counter

import duckdb
import pytest

from service.settings.settings import Settings
from tests.seeds import each_seed, few
from tests.service.client import Client, code

TABLES = {"keyed": "id INTEGER, v INTEGER, s TEXT", "bag": "id INTEGER, v INTEGER, s TEXT"}
STATEMENTS = 60


class Author:
    """Writes statements with few distinct values, so that rows often conflict."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def statement(self) -> str:
        table = self._random.choice(list(TABLES))
        other = self._random.choice(list(TABLES))
        return self._random.choice(
            [
                self._values,
                self._values,
                self._query,
                self._update,
                self._update_from,
                self._delete,
                self._using,
            ]
        )(table, other)

    def _number(self) -> str:
        return self._random.choice(["0", "1", "2", "3", "-4", "1 + 1", "'5'", "NULL"])

    def _text(self) -> str:
        return self._random.choice(["'x'", "'y'", "'x' || 'y'", "7", "NULL"])

    def _key(self) -> str:
        return str(self._random.randrange(12))

    def _condition(self, table: str) -> str:
        return self._random.choice(
            [
                f"{table}.id < {self._key()}",
                f"{table}.v = {self._random.randrange(3)}",
                f"{table}.v IS NULL OR {table}.s = 'x'",
                f"{table}.id IN (SELECT v FROM bag)",
                f"{table}.v > (SELECT avg(v) FROM keyed)",
                f"NOT EXISTS (SELECT 1 FROM bag AS inner_bag WHERE inner_bag.id = {table}.id)",
                f"(SELECT count(*) FROM {table} AS own WHERE own.id = {table}.id) > 1",
            ]
        )

    def _values(self, table: str, other: str) -> str:
        if self._random.random() < 0.3:
            return f"INSERT INTO {table} (s, id) VALUES ({self._text()}, {self._key()})"
        rows = [
            f"({self._key()}, {self._number()}, {self._text()})" for _ in range(self._random.randint(1, 3))
        ]
        return f"INSERT INTO {table} VALUES {', '.join(rows)}"

    def _query(self, table: str, other: str) -> str:
        key = self._random.choice(["id", "id + 1", "v"])
        known = "id < 9" if table == "bag" else f"id < 9 AND {key} IS NOT NULL"
        return f"INSERT INTO {table} SELECT {key}, count(*), max(s) FROM {other} WHERE {known} GROUP BY {key}"

    def _update(self, table: str, other: str) -> str:
        assignment = self._random.choice(
            [
                "v = v + 1",
                "s = upper(s), v = length(s)",
                "id = id + 1",
                "id = 13 - id",
                f"id = {self._key()}",
                "v = (SELECT count(*) FROM bag)",
                f"s = {self._text()}",
            ]
        )
        return f"UPDATE {table} SET {assignment} WHERE {self._condition(table)}"

    def _update_from(self, table: str, other: str) -> str:
        source = f"(SELECT id, min(v) AS least FROM {other} GROUP BY id) AS source"
        return f"UPDATE {table} SET v = source.least FROM {source} WHERE source.id = {table}.id"

    def _delete(self, table: str, other: str) -> str:
        return f"DELETE FROM {table} WHERE {self._condition(table)}"

    def _using(self, table: str, other: str) -> str:
        return f"DELETE FROM {table} USING {other} AS o WHERE o.v = {table}.id"


class Referee:
    """DuckDB's tables, and the effect of statements on them."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        for name, columns in TABLES.items():
            self._connection.execute(f"CREATE TABLE {name} ({columns})")

    def accepts(self, statement: str) -> bool:
        """Runs the statement. Returns False, with nothing changed, if a key would be duplicated."""
        self._connection.execute("BEGIN")
        self._connection.execute(statement)
        keys = [key for key, _, _ in self.rows("keyed").elements()]
        accepted = len(set(keys)) == len(keys) and None not in keys
        self._connection.execute("COMMIT" if accepted else "ROLLBACK")
        return accepted

    def rows(self, name: str) -> Counter:
        return Counter(self._connection.execute(f"SELECT * FROM {name}").fetchall())


@each_seed(few(3))
def test_statements_do_what_duckdb_does(settings: Settings, seed: int):
    author, referee = Author(seed), Referee()
    with Client(settings) as client:
        client.table("keyed", {"id": "INTEGER", "v": "INTEGER", "s": "TEXT"}, ["id"])
        client.table("bag", {"id": "INTEGER", "v": "INTEGER", "s": "TEXT"})
        client.view("sums", "SELECT id, count(*) AS n, sum(v) AS v FROM bag GROUP BY id")
        refused = 0
        for _ in range(STATEMENTS):
            statement = author.statement()
            answer = client.post("/v1/sql", {"sql": statement})
            accepted = referee.accepts(statement)
            assert (answer.status_code == 200) == accepted, (statement, answer.text)
            refused += not accepted
            for name in TABLES:
                assert Counter(client.rows(name)) == referee.rows(name), statement
        sums = client.post("/v1/sql", {"sql": "SELECT id, count(*), sum(v) FROM bag GROUP BY id"}).json()
        assert Counter(map(tuple, sums["results"][0]["rows"])) == Counter(client.rows("sums"))
        assert 0 < refused < STATEMENTS


@pytest.mark.parametrize("dialect", ["postgres", "trino", "spark", "tsql"])
def test_a_text_with_a_fraction_is_not_rounded_into_a_whole_column(settings: Settings, dialect: str) -> None:
    with Client(settings) as client:
        client.table("t", {"a": "INTEGER", "b": "NUMERIC(6, 2)"})
        client.insert("t", {"a": 1, "b": "0.50"})
        for sql in (
            "INSERT INTO t (a) VALUES ('1.5')",
            "INSERT INTO t (a) VALUES (1), ('2e1')",
            "UPDATE t SET a = '4.5'",
        ):
            answer = client.post("/v1/sql", {"sql": sql, "dialect": dialect})
            assert code(answer) == (422, "type_mismatch"), answer.text
        assert client.rows("t") == [(1, "0.50")]
        answer = client.post("/v1/sql", {"sql": "UPDATE t SET a = '2', b = '1.25'", "dialect": dialect})
        assert answer.status_code == 200, answer.text
        assert client.rows("t") == [(2, "1.25")]
