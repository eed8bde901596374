"""/v1/epochs: what each epoch changed and when, also after a restart, and only what the caller may read."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime

import httpx

from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key

BEGAN = 1_760_000_000_000_000


class Clock:
    """A clock that goes on by a second each time that it is asked."""

    def __init__(self) -> None:
        self.now = BEGAN

    def __call__(self) -> int:
        self.now += 1_000_000
        return self.now


def listed(client: Client, **params: object) -> dict:
    answer = client.get("/v1/epochs", **params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def changed(client: Client, kind: str, name: str) -> Counter[int]:
    """How many changes a relation's own feed has at each epoch."""
    lines = client.get(f"/v1/{kind}/{name}/changes", format="ndjson").text.splitlines()
    return Counter(int(line.split('"epoch":')[1].split(",")[0]) for line in lines)


def test_epochs_have_what_the_relations_say_themselves(settings: Settings) -> None:
    """The numbers of differences are those of each relation's changes, before and after a restart."""
    rng = random.Random(1)
    with Client(settings, time=Clock()) as client:
        client.table("t", {"id": "BIGINT", "a": "BIGINT"}, ["id"])
        client.table("u", {"a": "BIGINT"})
        client.view("v", "SELECT a, count(*) AS n FROM t GROUP BY a")
        for epoch in range(30):
            if epoch % 3:
                client.change("t", *({"upsert": {"id": i, "a": i % 4}} for i in rng.sample(range(40), 5)))
            else:
                client.insert("u", {"a": epoch})
        first = listed(client, limit=1000)
        for kind, name in (("tables", "t"), ("tables", "u"), ("views", "v")):
            counts = {it["epoch"]: it[kind][name] for it in first["epochs"] if name in it[kind]}
            assert counts == changed(client, kind, name), name
    with Client(settings) as client:
        again = listed(client, limit=1000)
    assert again == first
    assert [it["epoch"] for it in first["epochs"]] == list(range(30, 0, -1))
    times = [datetime.fromisoformat(it["committed_at"]) for it in first["epochs"]]
    assert times == sorted(times, reverse=True) and len(set(times)) == 30
    assert times[-1] > datetime.fromtimestamp(BEGAN / 1e6, UTC)


def test_pages_lead_to_the_first_epoch(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    client.table("u", {"a": "BIGINT"})
    for number in range(25):
        client.insert("t" if number % 2 else "u", {"a": number})
    whole = listed(client, limit=100)["epochs"]
    for params in ({}, {"relation": "t"}):
        wanted = [it for it in whole if not params or "t" in it["tables"]]
        found: list[dict] = []
        until: int | None = None
        while True:
            page = listed(client, limit=4, **params, **({} if until is None else {"until": until}))
            found += page["epochs"]
            until = page["next"]
            if until is None:
                break
        assert [it["epoch"] for it in found] == [it["epoch"] for it in wanted]
        assert all(it["tables"].keys() == {"t"} for it in found if params)
    assert [it["epoch"] for it in listed(client, since=20, until=23)["epochs"]] == [23, 22, 21]
    assert listed(client, since=99)["epochs"] == []


def test_a_load_before_the_kept_history_is_not_a_change(client: Client) -> None:
    """A view's oldest epoch is all that it was then, not what came."""
    client.table("t", {"a": "BIGINT"})
    client.insert("t", {"a": 1}, {"a": 2})
    client.runtime._state.engine.forget("t", 1)
    client.view("v", "SELECT a FROM t")
    client.insert("t", {"a": 3})
    found = listed(client)["epochs"]
    assert [(it["epoch"], it["tables"], it["views"]) for it in found] == [
        (2, {"t": 1}, {"v": 1}),
        (1, {}, {}),
    ]


def test_what_may_not_be_read_is_not_counted(settings: Settings) -> None:
    with Client(settings) as client:
        for name in ("mine", "yours"):
            client.table(name, {"a": "BIGINT"})
        client.view("v", "SELECT a FROM yours")
        admin = make_key(client, "boss", "admin")["key"]
        key = make_key(client, "k", "read", ["mine"], by=admin)["key"]
        for name in ("mine", "yours"):
            sent = client.post(f"/v1/tables/{name}/deltas", [{"insert": {"a": 1}}], headers=bearer(admin))
            assert sent.status_code == 200

        def ask(path: str, by: str) -> httpx.Response:
            return client.run(client.http.get(path, headers=bearer(by)))

        for by, names in ((key, [{}, {"mine": 1}]), (admin, [{"yours": 1}, {"mine": 1}])):
            answer = ask("/v1/epochs", by).json()
            assert [it["tables"] for it in answer["epochs"]] == names
            assert any(it["views"] for it in answer["epochs"]) == (by == admin)
        for name in ("yours", "v", "nothing"):
            assert code(ask(f"/v1/epochs?relation={name}", key)) == (403, "forbidden")
        assert code(ask("/v1/epochs?relation=nothing", admin)) == (404, "unknown_name")


def test_a_branch_has_epochs_of_its_own(settings: Settings) -> None:
    """Those since it parted, in pages too, with the times of its own commits; main's are as they were."""
    with Client(settings, time=Clock()) as client:
        client.table("t", {"id": "BIGINT", "a": "BIGINT"}, ["id"])
        client.view("v", "SELECT a, count(*) AS n FROM t GROUP BY a")
        for number in range(3):
            client.insert("t", {"id": number, "a": 1})
        main = listed(client)
        branch = client.post("/v1/branches", {"name": "b"}).json()
        assert listed(client, branch="b") == {"newest": branch["begins"], "epochs": [], "next": None}
        for number in range(10, 15):
            answer = client.post(
                "/v1/tables/t/deltas?branch=b", [{"insert": {"id": number, "a": number % 2}}]
            )
            assert answer.status_code == 200, answer.text
        found = listed(client, branch="b", limit=3)
        begins = branch["begins"]
        assert [it["epoch"] for it in found["epochs"]] == [begins + 5, begins + 4, begins + 3]
        assert found["epochs"][0]["tables"] == {"t": 1} and found["epochs"][0]["views"] == {"v": 2}
        rest = listed(client, branch="b", limit=3, until=found["next"])
        assert [it["epoch"] for it in rest["epochs"]] == [begins + 2, begins + 1] and rest["next"] is None
        assert listed(client, branch="b", relation="v", limit=2)["next"] is not None
        times = [datetime.fromisoformat(it["committed_at"]) for it in (found["epochs"] + rest["epochs"])]
        assert times == sorted(set(times), reverse=True)
        assert min(times) > datetime.fromisoformat(main["epochs"][0]["committed_at"])
        assert listed(client) == main
        assert code(client.get("/v1/epochs", branch="none")) == (404, "unknown_name")


def test_bad_ranges_are_refused(client: Client) -> None:
    for params in ({"since": -1}, {"limit": 0}, {"limit": 10_001}, {"until": "x"}):
        assert client.get("/v1/epochs", **params).status_code == 422, params
