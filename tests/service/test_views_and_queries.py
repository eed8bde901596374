"""A query has the same rows in a view and outside of one, whatever its columns and tables are called."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code

SCRIPT = """
CREATE TABLE words (id INTEGER PRIMARY KEY, b TEXT, "each" TEXT, x INTEGER, place INTEGER, f TEXT);
INSERT INTO words VALUES
  (1, 'an ox', 'b', 2, 3, 'q'), (2, NULL, NULL, NULL, NULL, NULL), (3, 'ox', 'b', 2, 1, 'q');
CREATE TABLE days (year TEXT, month TEXT, day TEXT);
INSERT INTO days VALUES ('1999', '05', '06');
"""
CAUGHT = [
    ("""SELECT string_to_array('a,b', ',', "each") AS r FROM words WHERE id = 1""", [[["a", None]]]),
    ("""SELECT array_remove(ARRAY['a', 'b'], "each") AS r FROM words WHERE id = 1""", [[["a"]]]),
    ("SELECT array_position(ARRAY[5, 3, 7], place) AS r FROM words WHERE id = 1", [[2]]),
    ("""SELECT array_replace(ARRAY['b'], "each", f) AS r FROM words WHERE id = 1""", [[["q"]]]),
    ("SELECT to_date('2024-01-31', 'YYYY-MM-DD') AS r FROM days AS f", [["2024-01-31"]]),
    ("SELECT to_date('2024-01-31', 'YYYY-MM-DD') AS r FROM words WHERE id = 1", [["2024-01-31"]]),
]
TIED = [
    ("SELECT id FROM words ORDER BY x FETCH FIRST 1 ROW WITH TIES", [[1], [3]]),
    ("SELECT id FROM words ORDER BY x NULLS FIRST OFFSET 1 FETCH NEXT 1 ROW WITH TIES", [[1], [3]]),
    ("SELECT id FROM words ORDER BY x, id FETCH FIRST 1 ROW WITH TIES", [[1]]),
    ("SELECT * FROM words ORDER BY x FETCH FIRST 0 ROWS WITH TIES", []),
    ("SELECT count(*) AS n FROM (SELECT id FROM words ORDER BY x FETCH FIRST ROW WITH TIES) AS q", [[2]]),
    ("WITH c AS (SELECT x FROM words) SELECT x FROM c ORDER BY 1 FETCH FIRST ROW WITH TIES", [[2], [2]]),
    (
        "SELECT x FROM words UNION ALL SELECT 9 ORDER BY x DESC FETCH FIRST 3 ROWS WITH TIES",
        [[None], [9], [2], [2]],
    ),
]
VALUES = [
    ("SELECT initcap(b) AS r FROM words ORDER BY id LIMIT 3", [["An Ox"], [None], ["Ox"]]),
    ("SELECT regexp_matches(b, 'o' || 'x') AS r FROM words ORDER BY id LIMIT 1", [[True]]),
    ("SELECT string_to_array(b, '') AS r FROM words ORDER BY id LIMIT 2", [[["an ox"]], [None]]),
    ("SELECT array_upper(ARRAY[[1, 2, 3], [4, 5, 6]], 2) AS r FROM days", [[3]]),
    ("SELECT array_position(ARRAY[1, 2, 3, 2], 2, 3) AS r FROM days", [[4]]),
    ("SELECT array_position(ARRAY['a', NULL], NULL, 0) AS r FROM days", [[2]]),
    ("SELECT array_position(ARRAY[5, 3, 7, 3], place, 3) AS r FROM words ORDER BY id LIMIT 2", [[4], [None]]),
    (
        "SELECT array_cat(NULL, ARRAY[1]) AS r, array_cat(ARRAY[x], NULL) AS s FROM words WHERE id = 1",
        [[[1], [2]]],
    ),
    ("SELECT array_cat(NULL::INTEGER[], NULL) AS r FROM days", [[None]]),
    ("SELECT array_ndims(ARRAY[[1]]) AS r FROM days", [[2]]),
    (
        "SELECT coalesce(b, '{}') AS r, array_remove(ARRAY[1, 2], 2) AS s FROM words WHERE id = 2",
        [["{}", [1]]],
    ),
    ("SELECT coalesce(b, '{}') AS r, quote_nullable(b) AS s FROM words WHERE id = 2", [["{}", "NULL"]]),
    ("SELECT age(TIMESTAMP '2001-04-10', TIMESTAMP '1957-06-13') AS r FROM days", [["P43Y9M27D"]]),
    ("SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'J') AS r FROM days", [["2460370"]]),
    ("SELECT 'infinity'::timestamptz AS r FROM days", [["infinity"]]),
    ("SELECT '-infinity'::timestamptz AS r FROM days", [["-infinity"]]),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    data = tmp_path_factory.mktemp("views_and_queries")
    with Client(Settings(data=data, spark="never", postgres_port=0)) as it:
        _rows(it, SCRIPT)
        yield it


def _rows(client: Client, sql: str, dialect: str = "postgres") -> list | None:
    answer = client.post("/v1/sql", {"sql": sql, "dialect": dialect})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1].get("rows")


@pytest.mark.parametrize(("sql", "rows"), [*CAUGHT, *TIED, *VALUES])
def test_a_view_and_a_query(client: Client, sql: str, rows: list) -> None:
    dialect = "duckdb" if "regexp_matches" in sql else "postgres"
    assert _rows(client, sql, dialect) == rows
    seen = _rows(client, f"CREATE VIEW seen AS {sql}; SELECT * FROM seen", dialect)
    _rows(client, "DROP VIEW seen")
    assert sorted(seen or (), key=str) == sorted(rows, key=str)


def test_top_with_ties(client: Client) -> None:
    assert _rows(client, "SELECT TOP 1 WITH TIES id FROM words ORDER BY x DESC", "tsql") == [[1], [3]]


def test_ties_need_an_order_that_the_result_has(client: Client) -> None:
    for sql in (
        "SELECT id FROM words FETCH FIRST ROW WITH TIES",
        "SELECT x FROM words UNION SELECT id FROM words ORDER BY x + 1 FETCH FIRST ROW WITH TIES",
    ):
        answer = client.post("/v1/sql", {"sql": sql})
        assert code(answer) == (422, "unsupported_sql"), sql


def test_the_age_of_a_day_is_no_number_of_a_transaction(client: Client) -> None:
    ((since,),) = _rows(client, "SELECT age(TIMESTAMP '2020-01-01') AS r") or [[None]]
    assert since.startswith("P")
    assert _rows(client, "SELECT age(datfrozenxid) AS r FROM pg_database") == [[0]]
