"""The guarantee, held against what the clients of a mixed load know after a service has ended under them.

Acknowledged changes exist once; others exist in full or not at all. The tables' changefeeds show what each
epoch holds, and every view is compared with DuckDB's answer from scratch.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

import duckdb
import httpx
import orjson

from tests.service.mixed_load import VIEWS, Definer, Effect, Row, Writer

TABLES = {"items": ("id", "writer", "value"), "edges": ("a", "b")}


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
