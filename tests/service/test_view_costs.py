"""Estimates of views, over HTTP and in SQL, against what views then cost; and budgets that refuse them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key

JOINED = (
    "SELECT o.customer, count(*) AS n FROM lines l JOIN orders o ON l.id_of_order = o.id GROUP BY o.customer"
)
BY_LINE = "SELECT l.id, o.customer FROM lines l JOIN orders o ON l.id_of_order = o.id"
PAIRS = "SELECT a.id AS x, b.id AS y FROM lines a, lines b"


@pytest.fixture
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        fill(client)
        yield client


def fill(client: Client) -> None:
    client.table("orders", {"id": "BIGINT", "customer": "BIGINT"}, ["id"])
    client.table("lines", {"id": "BIGINT", "id_of_order": "BIGINT"}, ["id"])
    run(client, "INSERT INTO orders SELECT n, n % 10 FROM generate_series(0, 99) AS g(n)")
    run(client, "INSERT INTO lines SELECT n, n / 4 FROM generate_series(0, 399) AS g(n)")


def run(client: Client, text: str) -> list[list]:
    """The rows of the last statement of a script, if it has some."""
    answer = client.post("/v1/sql", {"sql": text})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1].get("rows", [])


def estimate(client: Client, sql: str, **more: object) -> dict:
    answer = client.post("/v1/views?dry_run=true", {"name": "foretold", "sql": sql, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def explained(client: Client, text: str) -> list[str]:
    return [row[0] for row in run(client, f"EXPLAIN COST {text}")]


def test_a_dry_run_says_what_the_view_then_costs(shop: Client) -> None:
    found = estimate(shop, JOINED)
    assert found["rows"] == 10
    assert [change["table"] for change in found["changes"]] == ["lines", "orders"]
    assert found["shared_with"] == found["over_budget"] == []
    assert not found["at_least"]
    assert {part["table"]: part["part"] for part in found["read"]} == {"lines": 1.0, "orders": 1.0}
    assert shop.get("/v1/views/foretold").status_code == 404
    shop.view("foretold", JOINED)
    nodes = shop.get("/v1/views/foretold/plan", stage="analyze", format="json").json()["nodes"]
    held = sum(node["figures"]["memory"] + node["figures"]["mapped"] for node in nodes)
    assert found["memory_bytes"] == pytest.approx(held, rel=0.05)
    assert [node["operator"] for node in found["plan"]["nodes"]] == [node["operator"] for node in nodes]


def test_a_dry_run_knows_what_is_shared(shop: Client) -> None:
    alone = estimate(shop, BY_LINE)["memory_bytes"]
    shop.view("by_customer", JOINED)
    beside = estimate(shop, BY_LINE)
    assert beside["shared_with"] == ["by_customer"]
    assert 0 < beside["memory_bytes"] < alone


def test_the_view_itself_is_not_shared_with(shop: Client) -> None:
    before = estimate(shop, JOINED)["memory_bytes"]
    shop.view("foretold", JOINED)
    assert estimate(shop, JOINED)["memory_bytes"] == before
    assert "shared with: foretold" in "\n".join(explained(shop, JOINED))
    assert "shared with" not in "\n".join(explained(shop, "VIEW foretold"))


def test_explain_cost_says_it_in_words(shop: Client) -> None:
    lines = explained(shop, f"CREATE VIEW v AS {JOINED}")
    assert lines[0] == "rows: 10"
    assert lines[1].startswith("memory: ")
    assert lines[2].startswith("time to build: ")
    assert lines[3].startswith("a change of lines: ")
    assert any(line.startswith("o0 := ") for line in lines)
    assert lines[-1].startswith("return o")
    assert lines[5:-1] != explained(shop, BY_LINE)[5:-1]


def test_a_product_is_dear_and_has_a_cure(shop: Client) -> None:
    found = estimate(shop, PAIRS)
    assert found["rows"] == 160_000
    of_time = next(dear for dear in found["dear"] if dear["of"] == "changes")
    assert "line 1" in of_time["place"] or "join" in of_time["place"]
    cures = [dear["cure"] for dear in found["dear"] if dear["cure"]]
    assert any("add a condition" in cure for cure in cures), found["dear"]


@pytest.mark.parametrize(
    ("budget", "needed"),
    [
        ({"memory_bytes": 100_000}, "bytes of memory"),
        ({"build_seconds": 1e-6}, "seconds to be built"),
        ({"change_milliseconds": 1e-6}, "milliseconds for a change on a bad day"),
    ],
)
def test_a_view_over_its_budget_is_refused(shop: Client, budget: dict, needed: str) -> None:
    answer = shop.post("/v1/views", {"name": "pairs", "sql": PAIRS, "budget": budget})
    assert code(answer) == (422, "over_view_budget")
    assert needed in answer.json()["detail"]
    assert shop.get("/v1/views/pairs").status_code == 404
    assert needed in estimate(shop, PAIRS, budget=budget)["over_budget"][0]
    fits = {"name": "lines_only", "sql": "SELECT id FROM lines", "budget": {"memory_bytes": 1_000_000}}
    assert shop.post("/v1/views", fits).status_code == 201


def test_a_budget_in_sql(shop: Client) -> None:
    text = f"CREATE VIEW pairs WITH (budget_memory = '100 kB', budget_build = '10 min') AS {PAIRS}"
    answer = shop.post("/v1/sql", {"sql": text})
    assert code(answer) == (422, "over_view_budget")
    assert "most of it for o" in answer.json()["detail"]
    run(
        shop,
        "CREATE VIEW pairs WITH (budget_memory = '1 GB', budget_build = 600, budget_change = '1 s') "
        f"AS {PAIRS}",
    )
    run(shop, "CREATE OR REPLACE VIEW pairs (a) WITH (budget_memory = '1 GB') AS SELECT id FROM lines")
    assert len(run(shop, "SELECT a FROM pairs")) == 400


def test_a_view_that_replaces_another_has_a_budget_too(shop: Client) -> None:
    shop.view("few", "SELECT id FROM lines")
    shop.view("fewer", "SELECT id FROM few WHERE id < 10")
    pairs = "SELECT a.id, b.id AS o FROM lines a, lines b"
    text = f"CREATE OR REPLACE VIEW few WITH (budget_memory = '100 kB') AS {pairs}"
    assert code(shop.post("/v1/sql", {"sql": text})) == (422, "over_view_budget")
    assert len(run(shop, "SELECT * FROM fewer")) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("budget_memory = 'much'", "much is not a budget"),
        ("budget_memory = 0", "0 is not a budget"),
        ("budget_memory = '1 s'", "1 s is not a budget"),
        ("budget_disk = '1 GB'", "a view has no budget budget_disk"),
        ("budget_build = 1, budget_build = 2", "budget_build is given twice"),
        ("budget_build", "= is expected"),
    ],
)
def test_a_budget_that_makes_no_sense(shop: Client, options: str, message: str) -> None:
    answer = shop.post("/v1/sql", {"sql": f"CREATE VIEW v WITH ({options}) AS SELECT id FROM lines"})
    assert answer.status_code in (400, 422)
    assert message in answer.json()["detail"]


def test_all_views_may_have_a_budget(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = Settings(data=tmp_path_factory.mktemp("data"), budget_memory=100_000)
    with Client(settings) as client:
        fill(client)
        client.view("v", JOINED)
        answer = client.post("/v1/views", {"name": "pairs", "sql": PAIRS, "budget": {"memory_bytes": 1e12}})
        assert code(answer) == (422, "over_view_budget")


def test_a_view_of_the_time_is_estimated_before_the_clock_runs(shop: Client) -> None:
    sql = "SELECT id FROM lines WHERE to_timestamp(id) <= now()"
    before = estimate(shop, sql)
    assert before["rows"] == 400
    assert [change["table"] for change in before["changes"]] == ["lines"]
    shop.view("timed", sql)
    assert {part["table"] for part in estimate(shop, sql)["read"]} == {"lines"}


def test_an_estimate_in_a_block_is_refused(shop: Client) -> None:
    answer = shop.post("/v1/sql", {"sql": f"BEGIN; EXPLAIN COST {JOINED}; COMMIT"})
    assert "in a block" in answer.json()["detail"]


def test_what_cannot_be_planned_is_refused_with_its_place(shop: Client) -> None:
    answer = shop.post("/v1/views?dry_run=true", {"name": "v", "sql": "SELECT nothing FROM lines"})
    assert answer.status_code == 422
    assert answer.json()["position"] == {"line": 1, "column": 8}


def test_several_estimates_at_once(shop: Client) -> None:
    found: list[dict] = []
    threads = [threading.Thread(target=lambda: found.append(estimate(shop, BY_LINE))) for _ in range(3)]
    for thread in threads:
        thread.start()
    shop.view("meanwhile", JOINED)
    for thread in threads:
        thread.join()
    assert [each["rows"] for each in found] == [400] * 3


def test_nobody_learns_of_views_and_tables_that_he_does_not_see(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        fill(client)
        client.view("by_customer", JOINED)
        client.view("joined", BY_LINE)
        boss = make_key(client, "boss", "admin")["key"]
        key = make_key(client, "reader", "read", ["joined"], boss)["key"]
        told = client.post(
            "/v1/sql", {"sql": "EXPLAIN COST SELECT customer FROM joined"}, headers=bearer(key)
        )
        text = json.dumps(told.json()["results"][0]["rows"])
        assert "rows: " in text
        assert "by_customer" not in text
        assert "a change of" not in text
        refused = client.post("/v1/sql", {"sql": f"EXPLAIN COST {JOINED}"}, headers=bearer(key))
        assert refused.status_code in (403, 404, 422)


def test_an_estimate_leaves_nothing(shop: Client) -> None:
    before = shop.get("/v1/views").json(), shop.get("/v1/status").json()["epoch"]
    estimate(shop, BY_LINE)
    explained(shop, PAIRS)
    assert (shop.get("/v1/views").json(), shop.get("/v1/status").json()["epoch"]) == before
