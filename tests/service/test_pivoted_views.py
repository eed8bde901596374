"""Views that leave the values of a PIVOT to their data: their columns follow."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import duckdb
import httpx
import orjson
import pytest

from service.running.pivoted_views import PivotedViews
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.client import Client, Process, code
from tests.service.waiting import wait_until

TABLE = "CREATE TABLE sold (k INTEGER, s TEXT, x INTEGER)"
PIVOT = "PIVOT sold ON k USING sum(x) GROUP BY s"


class Market(Client):
    def __enter__(self) -> Market:
        super().__enter__()
        return self

    def results(self, sql: str, dialect: str = "duckdb") -> list[dict]:
        answer = self.post("/v1/sql", {"sql": sql, "dialect": dialect})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    def described(self, name: str = "v") -> dict:
        answer = self.get(f"/v1/views/{name}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def columns(self, name: str = "v") -> list[str]:
        return [column["name"] for column in self.described(name)["columns"]]

    def wait_for(self, columns: list[str], name: str = "v") -> None:
        wait_until(lambda: self.columns(name) == columns, 60)


@pytest.fixture
def market(settings: Settings) -> Iterator[Market]:
    with Market(settings) as market:
        market.results(TABLE)
        yield market


def rows(market: Market, view: str, **params: object) -> list[tuple]:
    return sorted(market.rows(view, **params), key=repr)


def hidden(market: Market) -> list[str]:
    """The relations of the engine that no list shows."""
    return [name for name in market.runtime.snapshot.relations if name not in market.runtime.definitions()]


def test_columns_come_and_go_with_the_data(market: Market) -> None:
    market.results("INSERT INTO sold VALUES (10, 'a', 1), (2, 'b', 2), (NULL, 'c', 3)")
    market.results(f"CREATE VIEW v AS {PIVOT}")
    assert market.columns() == ["s", "10", "2"]
    epoch = market.results("INSERT INTO sold VALUES (7, 'a', 5)")[0]["epoch"]
    market.wait_for(["s", "10", "2", "7"])
    assert rows(market, "v") == [("a", 1, None, 5), ("b", None, 2, None), ("c", None, None, None)]
    assert rows(market, "v", as_of=epoch) == [
        ("a", 1, None, None),
        ("b", None, 2, None),
        ("c", None, None, None),
    ]
    market.results("DELETE FROM sold WHERE k = 10")
    market.wait_for(["s", "2", "7"])
    assert rows(market, "v") == [("a", None, 5), ("b", 2, None), ("c", None, None)]
    assert rows(market, "v", as_of=epoch) == [("a", None, None), ("b", 2, None), ("c", None, None)]
    market.results("DELETE FROM sold")
    market.wait_for(["s"])
    assert rows(market, "v") == [] and market.described()["sql"] == PIVOT
    market.results("DROP VIEW v; DROP TABLE sold")
    wait_until(lambda: hidden(market) == [], 60)


def test_a_view_over_an_empty_table_has_no_columns_of_values_yet(market: Market) -> None:
    market.results("CREATE VIEW v AS PIVOT sold ON s, k")
    assert market.columns() == ["x"]
    market.results("INSERT INTO sold VALUES (1, 'b', 9), (1, 'a', 9), (2, NULL, 9)")
    market.wait_for(["x", "a_1", "a_2", "b_1", "b_2"])
    assert rows(market, "v") == [(9, 1, 0, 1, 0)]


def test_values_may_have_an_order_and_a_query(market: Market) -> None:
    market.results("INSERT INTO sold VALUES (10, 'a', 1), (2, 'b', 2), (7, 'a', 1)")
    for name, values in (("v", "ANY ORDER BY k DESC"), ("w", "SELECT k FROM sold WHERE x = 1")):
        sql = f"CREATE VIEW {name} AS SELECT * FROM sold PIVOT (sum(x) FOR k IN ({values})) AS p"
        market.results(sql, "snowflake")
    assert (market.columns("v"), market.columns("w")) == (["s", "10", "7", "2"], ["s", "10", "7"])
    market.results("INSERT INTO sold VALUES (8, 'b', 1)")
    market.wait_for(["s", "10", "8", "7", "2"])
    market.wait_for(["s", "10", "7", "8"], "w")


def test_rows_are_those_of_duckdb_whatever_comes(market: Market) -> None:
    seed = random.Random(SEED)
    statements = [
        "PIVOT sold ON k USING sum(x)",
        "PIVOT sold ON k, s USING sum(x) AS a, count(*) AS n GROUP BY x",
        "PIVOT (FROM sold WHERE k > 1) ON k || '_' || s USING max(x) GROUP BY x",
        "WITH q AS (SELECT k % 2 AS p, s FROM sold) SELECT * FROM (PIVOT q ON p) WHERE s <> 'b'",
    ]
    market.results("INSERT INTO sold VALUES (NULL, NULL, 0), (2, 'a', 0)")
    for i, statement in enumerate(statements):
        market.results(f"CREATE VIEW v{i} AS {statement}")
    there: list[tuple[int | None, str | None, int]] = [(None, None, 0), (2, "a", 0)]
    for _ in range(6):
        gone = [row for row in there if seed.random() < 0.4]
        new = [
            (seed.choice((None, 1, 2, 3, -4)), seed.choice((None, "a", "b")), seed.randrange(9))
            for _ in range(4)
        ]
        deltas = [{"delete": dict(zip("ksx", row, strict=True))} for row in gone]
        deltas += [{"insert": dict(zip("ksx", row, strict=True))} for row in new]
        assert market.post("/v1/tables/sold/deltas", deltas).status_code == 200
        there = [*(Counter(there) - Counter(gone)).elements(), *new]
        with duckdb.connect() as referee:
            referee.execute(TABLE)
            referee.executemany("INSERT INTO sold VALUES (?, ?, ?)", there)
            for i, statement in enumerate(statements):
                expected = referee.execute(statement)
                market.wait_for([column[0] for column in expected.description], f"v{i}")
                wanted = Counter(expected.fetchall())
                assert Counter(map(tuple, market.results(f"FROM v{i}")[0]["rows"])) == wanted, statement


def test_columns_that_are_read_stay(market: Market) -> None:
    market.results("INSERT INTO sold VALUES (10, 'a', 1), (2, 'b', 2)")
    market.results(
        f'CREATE VIEW v AS {PIVOT}; CREATE VIEW tens AS SELECT s, "10" AS n FROM v; CREATE VIEW w AS FROM v'
    )
    market.results("DELETE FROM sold WHERE k = 10; INSERT INTO sold VALUES (3, 'a', 4)")
    market.wait_for(["s", "2", "3", "10"])
    assert rows(market, "v") == [("a", None, 4, None), ("b", 2, None, None)]
    assert rows(market, "tens") == [("a", None), ("b", None)] and market.columns("w") == ["s", "10", "2"]
    wait_until(lambda: "tens" in str(market.described().get("notices")), 60)
    market.results("DROP VIEW tens; DROP VIEW w")
    market.wait_for(["s", "2", "3"])
    wait_until(lambda: "notices" not in market.described(), 60)


def test_too_many_values_are_refused_or_leave_the_columns_as_they_are(settings: Settings) -> None:
    with Market(replace(settings, plan_columns=4)) as market:
        market.results(f"{TABLE}; INSERT INTO sold VALUES (1, 'a', 1), (2, 'a', 1)")
        market.results(f"CREATE VIEW v AS {PIVOT}")
        market.results("INSERT INTO sold VALUES (3, 'a', 1), (4, 'a', 1)")
        wait_until(lambda: "notices" in market.described(), 60)
        assert "at most 4" in market.described()["notices"][0]
        assert market.columns() == ["s", "1", "2"] and rows(market, "v") == [("a", 1, 1)]
        for values in ("(5, 'a', 1)", "(6, 'b', 1)"):
            refused = market.post("/v1/views", {"name": "w", "sql": PIVOT, "dialect": "duckdb"})
            assert code(refused) == (422, "too_many_columns")
            market.results(f"INSERT INTO sold VALUES {values}")
        market.results("DELETE FROM sold WHERE k > 3")
        market.wait_for(["s", "1", "2", "3"])
        assert rows(market, "v") == [("a", 1, 1, 1)]
        wait_until(lambda: "notices" not in market.described(), 60)


def test_what_it_reads_may_be_altered(market: Market) -> None:
    market.results("INSERT INTO sold VALUES (1, 'a', 1)")
    market.results(
        f"CREATE VIEW base AS SELECT k, s, x FROM sold; CREATE VIEW v AS {PIVOT.replace('sold', 'base')}"
    )
    market.results("ALTER TABLE sold RENAME COLUMN k TO kind", "postgres")
    market.results("ALTER TABLE sold ADD COLUMN y INTEGER; ALTER VIEW base RENAME TO bottom", "postgres")
    market.results("INSERT INTO sold (kind, s, x) VALUES (2, 'a', 1)")
    market.wait_for(["s", "1", "2"])
    market.results("CREATE OR REPLACE VIEW bottom AS SELECT kind * 10 AS k, s, x FROM sold")
    market.wait_for(["s", "10", "20"])
    market.results(
        "CREATE OR REPLACE VIEW v AS SELECT s FROM sold; INSERT INTO sold (kind, s, x) VALUES (3, 'a', 1)"
    )
    wait_until(lambda: hidden(market) == [], 60)
    assert market.columns() == ["s"]


def test_views_may_go_and_come_at_once(market: Market) -> None:
    for k in range(8):
        market.results(f"CREATE VIEW v AS {PIVOT}; INSERT INTO sold VALUES ({k}, 'a', 1)")
        if k % 2:
            market.wait_for(["s", *map(str, range(k + 1))])
        market.results("DROP VIEW v")
    wait_until(lambda: hidden(market) == [], 5)
    market.results(f"CREATE VIEW v AS {PIVOT}; INSERT INTO sold VALUES (8, 'a', 1)")
    market.wait_for(["s", *map(str, range(9))])


def test_a_replacement_may_leave_its_values_to_the_data(market: Market) -> None:
    market.results("INSERT INTO sold VALUES (1, 'a', 1); CREATE VIEW v AS SELECT s FROM sold")
    market.results(f"CREATE REPLACEMENT r FOR VIEW v AS {PIVOT}; INSERT INTO sold VALUES (2, 'b', 1)")
    assert market.columns() == ["s"]
    market.results("APPLY REPLACEMENT r")
    market.wait_for(["s", "1", "2"])
    same = market.results(f"CREATE OR REPLACE VIEW v AS {PIVOT}")
    assert same[0]["epoch"] == market.runtime.snapshot.upper - 1


def test_who_follows_the_view_is_told_of_its_columns(market: Market) -> None:
    market.results(f"INSERT INTO sold VALUES (1, 'a', 1); CREATE VIEW v AS {PIVOT}")
    epoch = market.results("INSERT INTO sold VALUES (2, 'a', 4)")[0]["epoch"]
    market.wait_for(["s", "1", "2"])
    changes = market.get("/v1/views/v/changes", since=epoch).text.splitlines()
    assert [(orjson.loads(it)["diff"], orjson.loads(it)["row"]) for it in changes] == [
        (-1, {"s": "a", "1": 1, "2": None}), (1, {"s": "a", "1": 1, "2": 4})
    ]  # fmt: skip


def has_columns(results: Callable[[str], list[dict]], count: int) -> bool:
    return len(results("FROM v")[0]["columns"]) == count


@pytest.mark.parametrize("is_killed", [False, True])
def test_columns_are_there_after_a_restart_and_go_on(settings: Settings, is_killed: bool) -> None:
    for start in range(3):
        process = Process(settings.data, {})
        try:
            process.wait_ready()

            def results(sql: str, http: httpx.Client = process.http) -> list[dict]:
                answer = http.post("/v1/sql", json={"sql": sql, "dialect": "duckdb"})
                assert answer.status_code == 200, answer.text
                return answer.json()["results"]

            if start == 0:
                results(f"{TABLE}; INSERT INTO sold VALUES (0, 'a', 9); CREATE VIEW v AS {PIVOT}")
            names = [str(k) for k in range(start + 1)]
            assert [it["name"] for it in results("FROM v")[0]["columns"]] == ["s", *names]
            epoch = results(f"INSERT INTO sold VALUES ({start + 1}, 'a', 1)")[0]["epoch"]
            wait_until(partial(has_columns, results, start + 3), 60)
            assert results(f"FROM v VERSION AS OF {epoch}")[0]["rows"] == [["a", 9, *([1] * start), None]]
            assert results("FROM v")[0]["rows"] == [["a", 9, *([1] * (start + 1))]]
        finally:
            if is_killed:
                process.kill()
            else:
                process.terminate()


def test_a_pivot_over_another_with_open_values_is_refused(market: Market) -> None:
    sql = "PIVOT (PIVOT sold ON k USING sum(x) GROUP BY s) ON s"
    refused = market.post("/v1/views", {"name": "v", "sql": sql, "dialect": "duckdb"})
    assert refused.json()["code"] == "unsupported_sql"
    assert "SELECT DISTINCT k FROM sold" in refused.json()["hint"]
    for sql, of in (("PIVOT sold ON nope", "unknown_column"), ("PIVOT nope ON k", "unknown_table")):
        refused = market.post("/v1/views", {"name": "v", "sql": sql, "dialect": "duckdb"})
        assert refused.json()["code"] == of and refused.json()["position"], refused.text
    refused = market.post("/v1/views", {"name": "v", "sql": "PIVOT sold", "dialect": "duckdb"})
    assert refused.json()["detail"] == "PIVOT has no key"
    assert hidden(market) == []


def test_a_pivot_of_written_values_counts_rows_without_an_aggregate(market: Market) -> None:
    market.results(
        "INSERT INTO sold VALUES (1, 'a', 1), (1, 'a', 1); CREATE VIEW v AS PIVOT sold ON s IN ('a', 'b')"
    )
    assert market.columns() == ["k", "x", "a", "b"] and rows(market, "v") == [(1, 1, 2, 0)]


def test_duckdb_judges_the_view_as_it_is(market: Market) -> None:
    market.results(f"INSERT INTO sold VALUES (1, 'a', 1), (20, 'b', 2); CREATE VIEW v AS {PIVOT}")
    judged = market.post("/v1/views/v/check", params={"by": "duckdb"})
    assert judged.status_code == 200 and judged.json()["equal"] and judged.json()["size"] == 2, judged.text


@pytest.mark.parametrize("has_begun", [False, True])
def test_nothing_begins_behind_the_end(settings: Settings, has_begun: bool) -> None:
    """What the writer still does while the service ends makes no task that nobody would end."""
    with Market(settings) as market:
        market.results(f"{TABLE}; CREATE VIEW v AS {PIVOT}")
        leading = market.runtime._led
        assert leading is not None
        pivoted = PivotedViews(leading.builds._state, leading.builds, leading.writer, leading.replacements)
        if has_begun:
            leading.writer.call(pivoted.consider)
            wait_until(lambda: any(it.query for it in pivoted._followed.values()), 60)
        pivoted.stop()
        market.results(f"CREATE VIEW w AS {PIVOT}")
        leading.writer.call(pivoted.consider)
        assert pivoted._followed == {} and (pivoted._thread is None or not pivoted._thread.is_alive())
