"""The settings of planning hold at every door that takes SQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code

_MOST = 10
_RELATIONS = 100


def deep(levels: int) -> str:
    return f"SELECT {'(' * levels}a{')' * levels} AS a FROM t"


def checked(levels: int) -> str:
    return f"CREATE TABLE made (a BIGINT CHECK ({'(' * levels}a > 0{')' * levels}))"


DOORS = {
    "a view": ("/v1/views", lambda n: {"name": "v", "sql": deep(n)}),
    "CREATE VIEW": ("/v1/sql", lambda n: {"sql": f"CREATE VIEW v AS {deep(n)}"}),
    "SELECT": ("/v1/sql", lambda n: {"sql": deep(n)}),
    "EXPLAIN": ("/v1/sql", lambda n: {"sql": f"EXPLAIN {deep(n)}"}),
    "INSERT": ("/v1/sql", lambda n: {"sql": f"INSERT INTO t {deep(n)}"}),
    "CREATE TABLE": ("/v1/sql", lambda n: {"sql": checked(n)}),
    "a table": ("/v1/tables", lambda n: {"sql": checked(n)}),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    settings = Settings(
        data=tmp_path_factory.mktemp("planning") / "data", sql_depth=_MOST, plan_relations=_RELATIONS
    )
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        yield client


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_the_depth_of_a_text_is_a_setting(client: Client, door: tuple) -> None:
    path, body = door
    assert code(client.post(path, body(_MOST + 1))) == (422, "sql_too_deep")
    answer = client.post(path, body(_MOST - 4))
    assert answer.status_code in (200, 201), answer.text
    client.post("/v1/sql", {"sql": "DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS made"})


def test_relations_of_a_query_are_counted_before_it_is_translated(client: Client) -> None:
    """Ad hoc too, where each CTE could see the names of all before it."""
    many = 3 * _RELATIONS
    names = ", ".join(f"c{i} AS (SELECT 1 AS a)" for i in range(many))
    for sql in (f"WITH {names} SELECT a FROM c0", " UNION ALL ".join(["SELECT a FROM t"] * many)):
        for prefix in ("", "EXPLAIN ", "INSERT INTO t "):
            assert code(client.post("/v1/sql", {"sql": prefix + sql})) == (422, "too_many_relations")
