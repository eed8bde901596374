"""kill -9 at random moments: acknowledged changes exist once; others exist in full or not at all.

Clients write, define and drop until the process is killed, and each records its responses. After the restart
the tables' changefeeds show what each epoch holds, and every view is compared with DuckDB's answer from
scratch. The catalog is in SQLite, and in PostgreSQL where its programs are. `FRESHET_KILLS` sets how often
each is killed.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import duckdb
import httpx
import orjson
import pytest

from tests.postgres.server import programs, running
from tests.seeds import SEED
from tests.service.client import Process
from tests.service.mixed_load import VIEWS, Definer, DeltaWriter, Effect, Row, SqlWriter, Writer
from tests.service.waiting import wait_until

KILLS = int(os.environ.get("FRESHET_KILLS", "2"))
WRITERS = (DeltaWriter, DeltaWriter, DeltaWriter, SqlWriter)
TABLES = {"items": ("id", "writer", "value"), "edges": ("a", "b")}
SETTINGS = {"FRESHET_CHECKPOINT_COMMITS": "20", "FRESHET_CHECKPOINT_BYTES": "20000"}


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Iterator[Mapping[str, str]]:
    """The settings of a catalog's database."""
    if request.param == "sqlite":
        yield {}
        return
    where = programs()
    if where is None:
        pytest.skip("initdb is not installed; on Debian it is in the package postgresql")
    with running(where) as server:
        with server.connect() as connection:
            connection.execute("CREATE DATABASE catalog")
        yield {"FRESHET_DATABASE_URL": server.url("catalog")}


def define(http: httpx.Client) -> None:
    for name, columns in TABLES.items():
        body: dict = {"name": name, "columns": [{"name": column, "type": "BIGINT"} for column in columns]}
        if name == "items":
            body["primary_key"] = ["id"]
        assert http.post("/v1/tables", json=body).status_code == 201
    for name, sql in VIEWS.items():
        assert http.post("/v1/views", json={"name": name, "sql": sql}).status_code == 201


def effects(http: httpx.Client) -> dict[int, Effect]:
    """The effect of each epoch, from the tables' changefeeds."""
    found: dict[int, Effect] = {}
    for table in TABLES:
        answer = http.get(f"/v1/tables/{table}/changes", params={"since": 0})
        for line in answer.content.splitlines():
            change = orjson.loads(line)
            found.setdefault(change["epoch"], Counter())[table, *change["row"].values()] += change["diff"]
    return found


def rows(http: httpx.Client, path: str, epoch: int) -> list[Row]:
    answer = http.get(path, params={"as_of": epoch}, headers={"Accept": "application/x-ndjson"})
    assert answer.status_code == 200, answer.text
    found = (orjson.loads(line).values() for line in answer.content.splitlines())
    return sorted(tuple(0 if value is None else int(value) for value in row) for row in found)


def names(http: httpx.Client, kind: str) -> set[str]:
    """What clients have defined besides what is always there."""
    found = {relation["name"] for relation in http.get(f"/v1/{kind}").json()[kind]}
    return found - TABLES.keys() - VIEWS.keys()


def check(http: httpx.Client, writers: list[Writer], definer: Definer, chance: random.Random) -> None:
    """Checks the guarantee against what the clients know, and settles their open requests."""
    found = effects(http)
    newest = http.get("/v1/status").json()["epoch"]
    known = {epoch: effect for writer in writers for epoch, effect in writer.applied.items()}
    assert sum(len(writer.applied) for writer in writers) == len(known), "two requests share an epoch"
    for epoch, effect in known.items():
        assert found.get(epoch, Counter()) == effect, f"epoch {epoch} is not what was acknowledged"
    unknown = {epoch: effect for epoch, effect in found.items() if epoch not in known}
    offered = [writer.open.effect for writer in writers if writer.open is not None]
    for effect in unknown.values():
        assert effect in offered, f"nobody asked for {effect}"
    assert len(unknown) <= len(offered)
    assert newest <= len(known) + len(offered)
    for writer in writers:
        writer.settle(http, unknown)
    definer.settle(names(http, "views"), names(http, "tables"))
    assert effects(http) == {epoch: e for writer in writers for epoch, e in writer.applied.items() if e}
    newest = http.get("/v1/status").json()["epoch"]
    for epoch in {newest, *chance.sample(range(newest + 1), min(5, newest + 1))}:
        check_views(http, epoch, VIEWS | definer.views)


def check_views(http: httpx.Client, epoch: int, views: Mapping[str, str]) -> None:
    """Compares all views at an epoch with DuckDB's answers over the tables at that epoch."""
    with duckdb.connect() as duck:
        for table, columns in TABLES.items():
            duck.execute(f"CREATE TABLE {table} ({', '.join(f'{column} BIGINT' for column in columns)})")
            if content := rows(http, f"/v1/tables/{table}/rows", epoch):
                duck.execute(f"INSERT INTO {table} VALUES {', '.join(map(str, content))}")
        for name, sql in VIEWS.items():
            duck.execute(f"CREATE VIEW {name} AS {sql}")
        for name, sql in views.items():
            expected = sorted(
                tuple(0 if v is None else int(v) for v in row) for row in duck.sql(sql).fetchall()
            )
            assert rows(http, f"/v1/views/{name}/rows", epoch) == expected, (name, epoch)


def test_kills(start: Callable[..., Process], database: Mapping[str, str]) -> None:
    chance = random.Random(SEED)
    writers = [kind(i, len(WRITERS), random.Random(chance.random())) for i, kind in enumerate(WRITERS)]
    definer = Definer(random.Random(chance.random()))
    for kill in range(KILLS + 1):
        service = start(**SETTINGS, **database)
        service.wait_ready()
        with httpx.Client(base_url=service.url, timeout=60) as http:
            if kill == 0:
                define(http)
            check(http, writers, definer, chance)
        if kill == KILLS:
            break
        clients = [threading.Thread(target=c.work, args=(service.url,)) for c in (*writers, definer)]
        for client in clients:
            client.start()
        time.sleep(chance.uniform(0.05, 1.5))
        if kill == KILLS - 1:
            wait_until(lambda: sum(len(w.applied) for w in writers) > len(WRITERS) and definer.requests > 4)
        service.kill()
        for client in clients:
            client.join(60)
            assert not client.is_alive()
