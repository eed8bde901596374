"""/v1/catalog: all relations with their states, and a feed that tells of each change of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from service.accounts.principals import ANYONE, Principal
from service.accounts.privileges import Permission, Privilege
from service.definitions.catalog_listing import CatalogLook
from service.http import catalog_feed
from service.http.catalog_feed import CatalogFeed
from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.test_authorization import bearer, make_key


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_feed, "EACH", 0.01)


def followed(
    client: Client, act: Callable[[], None], wanted: int, principal: Principal = ANYONE
) -> list[Any]:
    """The events of a feed, the first of which comes before `act`: `wanted` changes after it."""
    events: list[Any] = []
    first = asyncio.Event()

    async def follow() -> None:
        lane = client.app.state.lanes.figures
        watch = client.app.state.catalog_watch
        stream = cast(AsyncIterator[bytes], CatalogFeed(watch, principal, lane).events())
        async for piece in stream:
            for event in piece.decode().split("\n\n"):
                if event.startswith("event"):
                    name, data = event.split("\n")
                    events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
            first.set()
            if len(events) > wanted:
                return

    task = client.begin(asyncio.wait_for(follow(), 50))
    client.run(first.wait())
    act()
    task.result(240)
    return events


def test_each_change_is_told_once_it_is_seen(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    whole, made = followed(client, lambda: client.view("v", "SELECT 10 / a AS b FROM t"), 1)
    entry = {"name": "v", "kind": "view", "state": "ready", "reason": None, "reads": ["t"]}
    assert whole[1] == {"relations": [entry | {"name": "t", "kind": "table", "reads": []}]}
    assert made[0] == "change" and made[1]["happened"] == "made"
    assert made[1]["relation"]["name"] == "v"
    _, state = followed(client, lambda: client.insert("t", {"a": 0}) and None, 1)
    assert state[1]["happened"] == "state"
    assert state[1]["relation"]["state"] == "errors" and "zero" in state[1]["relation"]["reason"]
    alter = {"sql": "ALTER TABLE t ADD COLUMN c TEXT"}
    _, altered, *_ = followed(client, lambda: client.post("/v1/sql", alter) and None, 1)
    assert (altered[1]["happened"], altered[1]["relation"]["name"]) == ("altered", "t")
    _, dropped = followed(client, lambda: client.delete("/v1/views/v") and None, 1)
    assert dropped[1]["happened"] == "dropped" and dropped[1]["relation"]["name"] == "v"


def test_changes_of_rows_are_no_changes_of_the_catalog(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")

    def act() -> None:
        for number in range(20):
            client.insert("t", {"a": number})
        client.table("u", {"a": "BIGINT"})

    _, change = followed(client, act, 1)
    assert (change[1]["happened"], change[1]["relation"]["name"]) == ("made", "u")


def test_a_principal_sees_only_its_own(client: Client) -> None:
    client.table("mine", {"a": "BIGINT"})
    client.table("yours", {"a": "BIGINT"})
    client.view("both", "SELECT m.a FROM mine m JOIN yours y ON m.a = y.a")
    grants = frozenset({Permission(Privilege.SELECT, "mine"), Permission(Privilege.SELECT, "both")})
    principal = Principal("", "", "clerk", grants)

    def act() -> None:
        client.delete("/v1/views/both")

    whole, dropped = followed(client, act, 1, principal)
    assert [(it["name"], it["reads"]) for it in whole[1]["relations"]] == [("both", ["mine"]), ("mine", [])]
    assert dropped[1]["relation"]["reads"] == ["mine"]


def test_the_list_is_what_the_feed_begins_with(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.view("v", "SELECT a FROM t")
    whole, _ = followed(client, lambda: client.table("u", {"a": "BIGINT"}), 1)
    listed = client.get("/v1/catalog").json()["relations"]
    assert [it for it in listed if it["name"] != "u"] == whole[1]["relations"]


def test_a_feed_ends_with_the_rights(settings: Settings) -> None:
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        admin = make_key(client, "boss", "admin")["key"]
        made = make_key(client, "k", "read", by=admin)
        principal = client.runtime.accounts.known.principals[made["id"]]

        def act() -> None:
            path = f"/v1/keys/{made['id']}"
            client.run(client.http.delete(path, headers=bearer(admin)))
            client.run(
                client.http.post(
                    "/v1/tables",
                    headers=bearer(admin),
                    json={"name": "u", "columns": [{"name": "a", "type": "BIGINT"}], "primary_key": []},
                )
            )

        events = followed(client, act, 2, principal)
        assert events[-1][0] == "problem" and events[-1][1]["code"] == "key_invalid"


def test_followers_share_their_looks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.table("t", {"a": "BIGINT"})
    watch, made = catalog_feed.CatalogWatch(client.runtime), []
    following = CatalogLook.next
    monkeypatch.setattr(CatalogLook, "next", lambda *them: made.append(them) or following(*them))
    first = watch.look()
    assert watch.look() is first and len(made) == 1
    client.insert("t", {"a": 1})
    assert watch.look() is not first and len(made) == 2
