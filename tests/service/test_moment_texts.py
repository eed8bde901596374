"""Constant texts beside columns of moments: in `postgres` they have PostgreSQL's spellings."""

from __future__ import annotations

import pytest

from tests.service.client import Client, code

SPELLED = {
    "2024-07-31 04:05 PM": ("2024-07-31T16:05:00", "2024-07-31T16:05:00Z", "2024-07-31"),
    "July 31, 2024 04:05 PM": ("2024-07-31T16:05:00", "2024-07-31T16:05:00Z", "2024-07-31"),
    "0044-03-15 12:00 BC": ("-0043-03-15T12:00:00", "-0043-03-15T12:00:00Z", "-0043-03-15"),
    "2024-07-31 04:05 PST": ("2024-07-31T04:05:00", "2024-07-31T12:05:00Z", "2024-07-31"),
    "2024-07-31 04:05 UTC+3": ("2024-07-31T04:05:00", "2024-07-31T07:05:00Z", "2024-07-31"),
    "2024-07-31 23:59:59.9999996": ("2024-08-01T00:00:00", "2024-08-01T00:00:00Z", "2024-07-31"),
    "2024-07-31 23:59:60": ("2024-08-01T00:00:00", "2024-08-01T00:00:00Z", "2024-07-31"),
    "2024-07-31 23:59:59.9999996 PST": ("2024-08-01T00:00:00", "2024-08-01T08:00:00Z", "2024-07-31"),
    "2024-07-31 04:05:06.7890126": (
        "2024-07-31T04:05:06.789013",
        "2024-07-31T04:05:06.789013Z",
        "2024-07-31",
    ),
}
COLUMNS = ("at", "zoned", "day")


def sql(client: Client, text: str, **more: object) -> None:
    answer = client.post("/v1/sql", {"sql": text, "dialect": "postgres", **more})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("text", SPELLED)
def test_values_defaults_and_parameters(client: Client, text: str) -> None:
    defaults = f"at TIMESTAMP DEFAULT '{text}', zoned TIMESTAMPTZ DEFAULT '{text}', day DATE DEFAULT '{text}'"
    sql(client, f"CREATE TABLE t (id BIGINT PRIMARY KEY, {defaults})")
    sql(client, "INSERT INTO t (id) VALUES (1)")
    sql(client, f"INSERT INTO t VALUES (2, '{text}', '{text}', '{text}')")
    sql(client, "INSERT INTO t VALUES (3, $1, $1, $1)", parameters=[text])
    sql(client, "INSERT INTO t VALUES (4, now(), now(), now())")
    sql(client, f"UPDATE t SET at = '{text}', zoned = '{text}', day = '{text}' WHERE id = 4")
    assert sorted(client.rows("t")) == [(i, *SPELLED[text]) for i in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("text", "time"),
    [("04:05 PM", "16:05:00"), ("04:05:59.9999996", "04:06:00"), ("040506.5 pm", "16:05:06.500000")],
)
def test_times_of_day(client: Client, text: str, time: str) -> None:
    sql(client, f"CREATE TABLE t (id BIGINT PRIMARY KEY, at TIME DEFAULT '{text}')")
    sql(client, "INSERT INTO t (id) VALUES (1)")
    sql(client, f"INSERT INTO t VALUES (2, '{text}'), (3, CAST('{text}' AS TIME))")
    sql(client, "INSERT INTO t VALUES (4, $1)", parameters=[text])
    client.view("v", f"SELECT id, at FROM t WHERE at = '{text}' AND at BETWEEN '{text}' AND TIME '{text}'")
    assert sorted(client.rows("v")) == [(i, time) for i in (1, 2, 3, 4)]


@pytest.mark.parametrize("text", SPELLED)
def test_comparisons_of_views(client: Client, text: str) -> None:
    client.table("t", {"at": "TIMESTAMP", "zoned": "TIMESTAMPTZ", "day": "DATE"})
    client.insert("t", dict(zip(COLUMNS, SPELLED[text], strict=True)))
    for column in COLUMNS:
        client.view(f"equal_{column}", f"SELECT {column} FROM t WHERE {column} = '{text}'")
        several = f"'{text}', '1999-01-08', '1999-01-09', '1999-01-10'"
        client.view(f"among_{column}", f"SELECT {column} FROM t WHERE {column} IN ({several})")
        client.view(
            f"between_{column}", f"SELECT {column} FROM t WHERE {column} BETWEEN '{text}' AND '{text}'"
        )
        for view in ("equal", "among", "between"):
            assert len(client.rows(f"{view}_{column}")) == 1, (view, column)


@pytest.mark.parametrize(
    "text", ["2024-01-31 13:05 PM", "2024-01-31 04:05 Nonsense", "2024-01-31 04:05 amBC"]
)
def test_what_is_no_moment(client: Client, text: str) -> None:
    sql(client, "CREATE TABLE t (at TIMESTAMP, day DATE)")
    for column in ("at", "day"):
        view = {"name": "v", "sql": f"SELECT at FROM t WHERE {column} < '{text}'"}
        assert code(client.post("/v1/views", view)) == (422, "type_mismatch")
        insert = {"sql": f"INSERT INTO t ({column}) VALUES ('{text}')", "dialect": "postgres"}
        assert client.post("/v1/sql", insert).status_code == 422
    assert client.rows("t") == []


@pytest.mark.parametrize(
    "text",
    ["1" * 5000 + "-01-31 BC", "2024-01-31" + " " * 100_000 + "!", "2024-01-31 04:05 " + "a" * 100_000],
    ids=["digits", "spaces", "letters"],
)
def test_long_texts_are_no_moments(client: Client, text: str) -> None:
    """Nobody waits for one that only begins as a moment."""
    sql(client, "CREATE TABLE t (at TIMESTAMP, s TEXT)")
    view = {"name": "v", "sql": f"SELECT at FROM t WHERE at < '{text}'"}
    assert client.post("/v1/views", view).status_code == 422
    assert client.post("/v1/sql", {"sql": f"INSERT INTO t (at) VALUES ('{text}')"}).status_code == 422
    sql(client, f"INSERT INTO t (s) VALUES ('{text}')")
    assert [row[0] for row in client.rows("t")] == [None]
