"""The example of dbt: what its commands make in Freshet, what goes on by itself, what a second run changes.

The tests run in the order of the file: each takes the shop as the ones before have left it.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from freshet import Connection
from tests.dbt_adapter.dbt_process import Dbt, Outcome
from tests.docs.markdown import blocks
from tests.docs.terminal import ADDRESS, Terminal
from tests.service.client import Process

VIEWS = ("stg_members", "stg_orders", "stg_items", "orders", "members", "daily_sales")
"""The maintained models, each after what it reads."""
URGENT = "alerts.large_orders_are_packed"


@pytest.fixture(autouse=True)
def _is_built(built: Outcome) -> None:
    assert built.success, built.told


def test_every_resource_becomes_what_the_guide_says(built: Outcome, db: Connection):
    assert set(built.statuses.values()) == {"success", "pass"}
    assert {"raw_members", "raw_orders", "raw_items", "price_list", "member_history"} == {
        table.name for table in db.tables()
    }
    assert set(VIEWS) <= {view.name for view in db.views()}
    tests = [view.name for view in db.views() if view.name.startswith("alerts.")]
    assert len(tests) == sum(status == "pass" for status in built.statuses.values()) - 1  # a unit test
    assert {column.name: column.type for column in db.table("raw_items").describe().columns}["price"] == (
        "NUMERIC(8, 2)"
    )
    assert db.view("orders").describe().comment == "An order with the amounts of its items."


def test_the_rows_are_duckdbs(db: Connection, project: Path):
    assert_rows_are_duckdbs(db, project)


def assert_rows_are_duckdbs(db: Connection, project: Path) -> None:
    """The compiled models over the tables of the moment, as DuckDB computes them."""
    duck = duckdb.connect()
    for table in ("raw_members", "raw_orders", "raw_items"):
        rows = db.table(table).rows().arrow()
        duck.register("given", rows)
        duck.execute(f"CREATE TABLE {table} AS SELECT * FROM given")
    compiled = {path.stem: path for path in (project / "target/compiled/roastery/models").rglob("*.sql")}
    for view in VIEWS:
        duck.execute(f"CREATE VIEW {view} AS {compiled[view].read_text()}")
        expected = Counter(duck.execute(f"FROM {view}").fetchall())
        assert Counter(db.view(view).rows().tuples()) == expected, view


def test_changes_arrive_and_alert_without_dbt(
    db: Connection,
    dbt: Dbt,
    service: Process,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for document in ("examples/dbt/README.md", "docs/dbt.md"):
        assert Terminal(service.url, tmp_path, monkeypatch).play(document, programs_alone=True) == 1
    assert db.view(URGENT).rows().tuples() == [(8, Decimal("63.00"))]
    assert_rows_are_duckdbs(db, project)
    outcome = dbt.run("test", "--select", "large_orders_are_packed")
    assert not outcome.success and outcome.results["large_orders_are_packed"]["failures"] == 1


def test_a_second_run_changes_only_what_has_changed(db: Connection, dbt: Dbt):
    before = db.status()["epoch"]
    with db.view("members").follow(since=before) as feed:
        outcome = dbt.succeed("run")
        assert set(outcome.statuses.values()) == {"success"}
        db.table("raw_orders").insert({"id": 9, "member": 5, "placed": "2026-03-04", "state": "open"})
        epoch = next(feed)  # the feed has outlived the run
    assert {change.row["member_id"] for change in epoch} == {5}
    # The copy is made anew, in one epoch: Huila's price is that of the new item, which is the same.
    assert db.table("price_list").changes(since=before) == []
    assert all("__dbt_tmp" not in table.name for table in db.tables())


def test_a_table_takes_its_new_rows_in_one_epoch(db: Connection, dbt: Dbt):
    db.create_view("dear", "SELECT coffee FROM price_list WHERE price > 11")
    before = db.status()["epoch"]
    db.table("raw_items").insert({"id": 12, "order_id": 9, "coffee": "Huila", "bags": 1, "price": "11.50"})
    dbt.succeed("run", "--select", "price_list")
    changes = db.table("price_list").changes(since=before)
    assert [(c.diff, str(c.row["price"])) for c in changes] == [(-1, "9.50"), (1, "11.50")]
    assert len({change.epoch for change in changes}) == 1
    assert ("Huila",) in db.view("dear").rows().tuples()
    db.view("dear").drop()


def test_a_seed_that_is_loaded_again_is_one_epoch(db: Connection, dbt: Dbt, project: Path):
    seed = project / "seeds/raw_members.csv"
    text = seed.read_text()
    seed.write_text(text.replace("Maher", '"Ma""her, of Cork"').replace("5,Eve,Quist,", "5,,Quist,"))
    before = db.status()["epoch"]
    dbt.succeed("seed", "--select", "raw_members")
    changes = db.table("raw_members").changes(since=before)
    added = [c.row for c in changes if c.diff > 0]
    assert len({change.epoch for change in changes}) == 1 and len(changes) == 4
    assert {row["family_name"] for row in added} == {'Ma"her, of Cork', "Quist"}
    assert [row["given_name"] for row in added if row["id"] == 5] == [None]
    seed.write_text(text)
    dbt.succeed("seed")
    assert len(db.table("raw_items").rows()) == 10


def test_a_snapshot_keeps_versions(db: Connection, dbt: Dbt):
    db.table("raw_items").insert({"id": 20, "order_id": 1, "coffee": "Huila", "bags": 1, "price": "1.00"})
    db.sql("DELETE FROM raw_members WHERE id = 5")
    dbt.succeed("snapshot")
    versions = db.sql(
        "SELECT member_id, spent, dbt_valid_to IS NULL AS is_valid FROM member_history "
        "ORDER BY 1, dbt_valid_from"
    ).tuples()
    by_member = Counter(member for member, _, _ in versions)
    assert by_member[1] == 2 and by_member[3] == 1
    assert [valid for member, _, valid in versions if member == 1] == [False, True]
    assert [valid for member, _, valid in versions if member == 5] == [False]
    dbt.succeed("snapshot")
    assert len(db.table("member_history").rows()) == len(versions)


def test_columns_that_others_read_need_a_full_refresh(db: Connection, dbt: Dbt, project: Path):
    model = project / "models/staging/stg_members.sql"
    text = model.read_text()
    model.write_text(text.replace("    given_name,\n", ""))
    refused = dbt.run("run", "--select", "stg_members")
    assert not refused.success
    assert "column given_name TEXT of view stg_members would be" in refused.told
    assert "--full-refresh --select model+" in refused.told
    dbt.succeed("run", "--full-refresh", "--select", "stg_members+")
    assert "given_name" not in db.view("stg_members").rows().columns
    assert len(db.view("members").rows()) == 4
    model.write_text(text)
    dbt.succeed("run", "--full-refresh", "--select", "stg_members+")


def test_a_view_may_become_a_table_and_a_table_a_view(db: Connection, dbt: Dbt, project: Path):
    model = project / "models/marts/daily_sales.sql"
    text = model.read_text()
    model.write_text(text.replace("materialized='incremental'", "materialized='table'"))
    dbt.succeed("run", "--select", "daily_sales")
    assert "daily_sales" in {table.name for table in db.tables()}
    model.write_text(text + "having random() > 2")
    assert not dbt.run("run", "--select", "daily_sales").success
    assert "daily_sales" in {table.name for table in db.tables()}
    model.write_text(text)
    dbt.succeed("run", "--select", "daily_sales")
    assert "daily_sales" in {view.name for view in db.views()}


def test_schemas_keep_developers_apart(db: Connection, dbt: Dbt):
    assert {"alerts", "public"} <= {name for (name,) in db.sql("SHOW SCHEMAS").tuples()}
    before = {name: db.view(name).describe() for name in VIEWS}
    dbt.succeed("build", "--target", "ada", "--select", "+stg_items", "--indirect-selection", "cautious")
    names = {relation.name for relation in (*db.tables(), *db.views())}
    assert {"dev_ada.raw_items", "dev_ada.stg_items"} <= names
    assert any(name.startswith("dev_ada_alerts.") for name in names)
    assert {"dev_ada", "dev_ada_alerts"} <= {name for (name,) in db.sql("SHOW SCHEMAS").tuples()}
    assert {name: db.view(name).describe() for name in VIEWS} == before


def test_the_profiles_of_the_guide_are_profiles(dbt: Dbt, service: Process, project: Path):
    profile = next(block.text for block in blocks("docs/dbt.md") if block.text.startswith("shop:"))
    (project / "guide").mkdir()
    text = ADDRESS.sub(service.url, profile.replace("shop:", "roastery:"))
    (project / "guide/profiles.yml").write_text(text)
    dbt.succeed("debug", "--profiles-dir", "guide")


def test_the_docs_have_the_columns(dbt: Dbt, project: Path):
    dbt.succeed("docs", "generate")
    catalog = json.loads((project / "target/catalog.json").read_text())
    orders = catalog["nodes"]["model.roastery.orders"]
    assert orders["metadata"]["type"] == "view" and orders["columns"]["order_id"]["type"] == "BIGINT"
    assert orders["columns"]["order_id"]["comment"] == "The order's number."


def test_the_functions_of_dbt_are_freshets(dbt: Dbt):
    query = """
        select {{ dbt.datediff("date '2026-01-31'", "date '2026-02-01'", 'month') }} as months,
               {{ dbt.datediff("date '2025-12-31'", "date '2026-01-01'", 'year') }} as years,
               {{ dbt.datediff("timestamp '2026-01-01 23:59:59'", "timestamp '2026-01-02'", 'day') }} as days,
               {{ dbt.datediff("date '2026-01-04'", "date '2026-01-05'", 'week') }} as weeks,
               {{ dbt.datediff("date '2026-02-01'", "date '2025-12-31'", 'quarter') }} as quarters,
               cast({{ dbt.dateadd('month', 1, "date '2026-01-31'") }} as date) as later,
               {{ dbt.last_day("date '2026-02-11'", 'month') }} as month_end,
               {{ dbt.last_day("date '2026-02-11'", 'quarter') }} as quarter_end,
               {{ dbt.listagg("x", "'-'", "order by x desc") }} as listed,
               {{ dbt.listagg("x", "'-'", "order by x", 2) }} as first_two,
               {{ dbt.split_part("'a,b'", "','", 2) }} as part,
               {{ dbt.hash("'a'") }} as digest,
               {{ dbt.position("'b'", "'abc'") }} as place,
               {{ dbt.safe_cast("'5'", api.Column.translate_type('bigint')) }} as five
        from (select unnest(['a', 'b', 'c']) as x) as t
    """
    outcome = dbt.succeed("show", "--inline", query)
    ((row,),) = [result["rows"] for result in outcome.results.values()]
    assert row == [
        *("1", "1", "1", "1", "-1", "2026-02-28", "2026-02-28", "2026-03-31", "c-b-a", "a-b", "b"),
        *("0cc175b9c0f1b6a831c399e269772661", "2", "5"),
    ]


def test_what_cannot_be_maintained_is_named(dbt: Dbt, project: Path):
    model = project / "models/marts/restless.sql"
    model.write_text("select order_id,\n  random() as chance from {{ ref('orders') }}")
    outcome = dbt.run("run", "--select", "restless")
    model.unlink()
    assert not outcome.success and "RANDOM() is not deterministic" in outcome.told
    assert "[unsupported_sql]" in outcome.told


def test_history_is_read_in_queries(db: Connection, dbt: Dbt):
    epoch = db.status()["epoch"]
    db.sql("DELETE FROM raw_items WHERE id = 1")
    query = "select count(*) from {{ as_of(ref('stg_items'), %s) }}"
    found = [dbt.succeed("show", "--inline", query % at) for at in (epoch, epoch + 1)]
    counts = [int(rows[0][0]) for outcome in found for rows in [r["rows"] for r in outcome.results.values()]]
    assert counts[0] == counts[1] + 1
