"""Watermarks on branches: a merge reports late rows, and closed windows of a live branch stay closed."""

from __future__ import annotations

import random
from collections import Counter

from service.settings.settings import Settings
from tests.seeds import each_seed, few
from tests.service.client import Client, code
from tests.service.test_live_branches import described
from tests.service.test_watermarks import TABLES, VIEWS, ask, at, click, closed
from tests.service.test_what_if import branch
from tests.service.waiting import wait_until

_NOTICE = "1 row came too late for the watermark of the table, and is left out"


def post(client: Client, *rows: tuple[str, int], on: str | None = None) -> dict:
    where = "" if on is None else f"?branch={on}"
    answer = client.post(f"/v1/tables/clicks/deltas{where}", [click(*row) for row in rows])
    assert answer.status_code == 200, answer.text
    return answer.json()


def caught_up(client: Client, name: str) -> None:
    newest = client.get("/v1/tables/clicks/rows").json()["epoch"]
    wait_until(lambda: described(client, name)["follows"] == newest)


def on_branch(client: Client, name: str, relation: str, **params: object) -> Counter:
    kind = "tables" if relation == "clicks" else "views"
    rows = client.get(f"/v1/{kind}/{relation}/rows", branch=name, **params).json()["rows"]
    return Counter(tuple(row.values()) for row in rows)


def test_a_merge_counts_the_rows_that_come_too_late(client: Client) -> None:
    ask(client, TABLES)
    post(client, ("a", 100))
    for name in ("b", "c"):
        branch(client, name)
        post(client, ("a", 110), ("b", 300), on=name)
    post(client, ("a", 200))
    answer = client.post("/v1/branches/b/merge", {}).json()
    assert (answer["changes"], answer["late"]) == (1, 1)
    assert "late" not in client.post("/v1/branches/b/merge", {}).json()
    post(client, ("a", 301))
    result = ask(client, "MERGE BRANCH c")
    assert (result["count"], result["notices"]) == (1, [_NOTICE])
    assert sorted(client.rows("clicks")) == [
        ("a", at(100)), ("a", at(200)), ("a", at(301)), ("b", at(300)), ("b", at(300))
    ]  # fmt: skip


def test_closed_windows_of_a_live_branch_stay_as_they_are(settings: Settings) -> None:
    """Main's rows that come too late on the branch are left out there and counted, and stay at main."""
    with Client(settings) as client:
        ask(client, TABLES)
        post(client, ("a", 10))
        branch(client, "b", live=True)
        post(client, ("own", 125), on="b")
        shown = on_branch(client, "b", "hours")
        assert shown == Counter({(at(0), "a", 1, at(10)): 1})
        post(client, ("a", 50), ("a", 119))
        post(client, ("a", 130))
        post(client, ("a", 126))
        post(client, ("a", 125))
        caught_up(client, "b")
        assert on_branch(client, "b", "hours") == shown, "the window had come out"
        assert described(client, "b")["late"] == 2
        kept = Counter({("a", at(m)): 1 for m in (10, 130, 126, 125)}) + Counter({("own", at(125)): 1})
        assert on_branch(client, "b", "clicks") == kept
    with Client(settings) as client:
        caught_up(client, "b")
        assert on_branch(client, "b", "clicks") == kept, "as it was after a start"
        post(client, ("a", 140))
        answer = client.post("/v1/branches/b/merge", {}).json()
        assert (answer["changes"], answer.get("late")) == (0, 1)
        assert len(client.rows("clicks")) == 7
        assert Counter(client.rows("hours")) == Counter(
            {(at(0), "a", 2, at(10)): 1, (at(60), "a", 1, at(119)): 1}
        )


def test_the_key_of_a_row_that_was_left_out_is_a_conflict(client: Client) -> None:
    """A branch that has inserted it too can be merged with the parent's row."""
    ask(
        client,
        "CREATE TABLE clicks (id BIGINT PRIMARY KEY, at TIMESTAMP, WATERMARK FOR at AS at) APPEND ONLY",
    )

    def insert(id: int, minutes: int, **where: str) -> None:
        sql = f"INSERT INTO clicks VALUES ({id}, '{at(minutes)}')"
        assert client.post("/v1/sql", {"sql": sql, **where}).status_code == 200

    insert(1, 0)
    branch(client, "b", live=True)
    insert(2, 20, branch="b")
    insert(3, 10)
    caught_up(client, "b")
    insert(3, 30, branch="b")
    refused = client.post("/v1/branches/b/merge", {})
    assert code(refused) == (409, "merge_conflict") and "clicks id = 3" in refused.json()["detail"]
    merged = client.post("/v1/branches/b/merge", {"on_conflict": "ours"}).json()
    assert (merged["changes"], merged["conflicts"]) == (1, 1)
    assert sorted(client.rows("clicks")) == [(1, at(0)), (2, at(20)), (3, at(10))]


@each_seed(few(3))
def test_no_window_of_a_live_branch_changes(settings: Settings, seed: int) -> None:
    """Whatever main and the branch do; and both have what Python counts of the rows that they have."""
    rng = random.Random(seed)
    with Client(settings) as client:
        ask(client, TABLES.split("CREATE VIEW")[0])
        client.view("hours", VIEWS["hours"][0])
        post(client, ("a", 0))
        branch(client, "b", live=True)
        now, shown = 0, Counter()
        for _ in range(25):
            now += rng.randrange(25)
            rows = [(rng.choice("ab"), max(0, now - rng.randrange(90))) for _ in range(rng.randrange(1, 5))]
            post(client, *rows, on=rng.choice(["b", None, None]))
            if rng.random() < 0.4:
                caught_up(client, "b")
            later = on_branch(client, "b", "hours")
            assert not shown - later, "what was shown stays"
            shown = later
        caught_up(client, "b")
        for found, view in (
            (Counter(client.rows("clicks")), Counter(client.rows("hours"))),
            (on_branch(client, "b", "clicks"), on_branch(client, "b", "hours")),
        ):
            minutes = {at(m): m for m in range(now + 1)}
            rows = [(page, minutes[time]) for page, time in found.elements()]
            assert view == closed("hours", {"clicks": rows, "buys": []})
