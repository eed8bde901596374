"""What an admin looks at: settings without secrets, open feeds, slow statements, costs of relations."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields, replace

import pytest

from service.settings.settings import SETTINGS, Settings
from service.settings.shown_settings import CONCEALED, shown_settings
from service.telemetry.slow_statements import SlowStatements
from tests.service.client import Client


def test_every_setting_is_shown_and_no_secret_is(settings: Settings) -> None:
    given = replace(
        settings,
        database_url="postgresql+psycopg://me:hush-1@host/db",
        spark_conf="fs.s3a.secret.key=hush-2",
        spark_remote="sc://host/;token=hush-3",
        load_roots="jdbc:postgresql://host/db?password=hush-4",
    )
    shown = list(shown_settings(given))
    assert [it.variable for it in shown] == [it.variable for it in SETTINGS]
    assert "hush" not in json.dumps([vars(it) for it in shown])
    assert sum(it.value == "(set)" for it in shown) == len(CONCEALED) == 4
    plain = {it.variable: it.value for it in shown_settings(replace(settings, port=8123))}
    assert plain["FRESHET_PORT"] == "8123" and plain["FRESHET_DATABASE_URL"] == ""


def test_settings_that_take_any_text_are_judged() -> None:
    """A new setting of free text has to be put here, or among those that are concealed."""
    texts = {item.name for item in fields(Settings) if isinstance(item.default, str)}
    harmless = {
        "host",
        "state_directory",
        "spark",
        "spark_master",
        "spark_memory",
        "spark_warm",
        "log_level",
        "log_format",
    }
    harmless |= {"log_requests", "standby", "advertised_url", "hosts", "origins", "open_to_anyone"}
    harmless |= {"tls_certificate", "tls_key"}
    assert texts - CONCEALED - harmless == set()


def test_settings_are_served(client: Client) -> None:
    found = client.get("/v1/settings").json()["settings"]
    assert {it["variable"] for it in found} == {it.variable for it in SETTINGS}
    assert all(it["meaning"] for it in found)


def test_open_feeds_are_listed_until_they_end(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.insert("t", {"a": 1})
    assert client.get("/v1/feeds").json()["feeds"] == []

    async def follow(path: str) -> list[dict]:
        began = asyncio.Event()
        gone = asyncio.Event()

        async def receive() -> dict:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict) -> None:
            if message["type"] == "http.response.body" and message.get("body"):
                began.set()

        scope = {
            "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": "",
            "query_string": b"format=sse", "headers": [(b"host", b"localhost"), (b"last-event-id", b"0")],
            "server": ("localhost", 80), "client": ("127.0.0.1", 1), "scheme": "http", "http_version": "1.1",
            "asgi": {"version": "3.0"}, "extensions": {},
        }  # fmt: skip
        task = asyncio.create_task(client.app(scope, receive, send))
        await asyncio.wait_for(began.wait(), 30)
        answer = await client.http.get("/v1/feeds")
        gone.set()
        await asyncio.wait_for(task, 30)
        return answer.json()["feeds"]

    (feed,) = client.run(follow("/v1/tables/t/changes"))
    assert (feed["relation"], feed["epoch"], feed["behind"], feed["key"]) == ("t", 1, 0, "")
    (feed,) = client.run(follow("/v1/catalog"))
    assert feed["relation"] is None
    assert client.get("/v1/feeds").json()["feeds"] == []


def test_the_slowest_statements_are_kept() -> None:
    slow = SlowStatements(3)
    for text, took in (("a", 0.2), ("b", 0.5), ("c", 0.1), ("d", 0.4), ("e", 0.05)):
        if slow._takes(took):
            slow._add(text, took, 0.0, "", "")
    assert [it.text for it in slow.all] == ["b", "d", "a"]


def test_a_statement_is_kept_with_its_failure_and_without_keys() -> None:
    slow = SlowStatements()
    secret = f"fr_{'0' * 12}_{'a' * 64}"
    with pytest.raises(ValueError, match="no"), slow.timing(f"SELECT '{secret}'", "k"):
        raise ValueError("no")
    (found,) = slow.all
    assert found.error == "no" and found.key == "k" and "aaaa" not in found.text
    with slow.timing("x" * 10_000, ""):
        pass
    assert max(len(it.text) for it in slow.all) < 2_100


def test_statements_of_scripts_are_timed(client: Client) -> None:
    block = "BEGIN; INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); COMMIT"
    client.post("/v1/sql", {"sql": f"CREATE TABLE t (a BIGINT); {block}; SELECT 1/0"})
    client.post("/v1/sql", {"sql": "SELECT nothing FROM t"})
    found = {it["text"]: it for it in client.get("/v1/statements").json()["statements"]}
    assert block in found
    assert found["CREATE TABLE t (a BIGINT)"]["error"] == ""
    assert "nothing" in found["SELECT nothing FROM t"]["error"]
    assert all(it["request"] and it["seconds"] >= 0 for it in found.values())


def test_costs_are_those_of_the_metrics(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a, count(*) AS n FROM t GROUP BY a")
    client.insert("t", *({"a": n % 7} for n in range(100)))
    costs = {it["name"]: it for it in client.get("/v1/catalog/costs").json()["relations"]}
    assert (costs["t"]["rows"], costs["v"]["rows"], costs["v"]["kind"]) == (100, 7, "view")
    text = client.get("/metrics").text
    for name, it in costs.items():
        line = f'freshet_relation_memory_bytes{{kind="{it["kind"]}",relation="{name}"}}'
        value = next(row for row in text.splitlines() if row.startswith(line)).split()[-1]
        assert float(value) == it["memory_bytes"]
