"""Wrong answers that hostile requests have found, each as small as it goes."""

from __future__ import annotations

import pytest

from service.settings.settings import Settings
from tests.service.client import Client


@pytest.fixture
def client(tmp_path_factory: pytest.TempPathFactory):
    with Client(Settings(data=tmp_path_factory.mktemp("found") / "data")) as client:
        client.table("one", {"n": "BIGINT"})
        client.insert("one", {"n": 1})
        yield client


def is_refused_or_fails(client: Client, name: str, sql: str) -> bool:
    """Whether the view is refused, has failed or has errors; a row, however often, would be wrong."""
    answer = client.post("/v1/views", {"name": name, "sql": sql})
    if answer.status_code != 201:
        return answer.status_code < 500
    return client.get(f"/v1/views/{name}").json()["state"] != "ready"


def test_rows_that_double_in_each_round_are_no_answer(client: Client) -> None:
    """The counts 1, 2, 4, ... wrap to 0 after 64 rounds; the sum of them is -1."""
    doubling = """
        WITH RECURSIVE r (n) AS (
            SELECT n FROM one UNION ALL SELECT r.n FROM r CROSS JOIN (VALUES (1), (2)) AS t (x)
        ) SELECT n FROM r
    """
    assert is_refused_or_fails(client, "doubling", doubling)


def test_a_product_of_counts_beyond_64_bits_is_no_answer(client: Client) -> None:
    client.insert("one", *({"n": 1} for _ in range(999)))
    client.view("v1", "SELECT 1 AS x FROM one AS a CROSS JOIN one AS b")
    client.view("v2", "SELECT 1 AS x FROM v1 AS a CROSS JOIN v1 AS b")
    assert is_refused_or_fails(client, "v3", "SELECT 1 AS x FROM v2 AS a CROSS JOIN v2 AS b")


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_sums_of_numbers_of_38_digits_are_right_or_errors(client: Client, count: int) -> None:
    """The tops of wide numbers wrapped: four times 10^38 - 1 was 6 * 10^37."""
    client.table("wide", {"i": "BIGINT", "n": "NUMERIC(38, 0)"})
    client.insert("wide", *({"i": i, "n": "9" * 38} for i in range(count)))
    client.view("average", "SELECT avg(n) AS a FROM wide")
    assert client.get("/v1/views/average/rows").json()["rows"] == [{"a": 1e38}]
    client.view("total", "SELECT sum(n) AS s FROM wide")
    answer = client.get("/v1/views/total/rows")
    if count == 1:
        assert answer.json()["rows"] == [{"s": "9" * 38}]
    else:
        assert (answer.status_code, answer.json()["code"]) == (409, "view_has_errors")
