"""dbt with its own adapter for PostgreSQL: the example's shop, and models of every kind that it has.

The tests run in the order of the file: each takes the shop as the ones before have left it.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pytest

from tests import clients
from tests.dbt_adapter.dbt_process import EXAMPLE, Dbt, Outcome
from tests.docs.markdown import blocks
from tests.pgwire.door import PostgresDoor
from tests.service.waiting import wait_until

MODELS = {
    "merged": """{{ config(materialized='incremental', unique_key='order_id', incremental_strategy='merge',
        on_schema_change='append_new_columns', indexes=[{'columns': ['order_id']}]) }}
        select order_id, state from {{ ref('orders') }}""",
    "appended": """{{ config(materialized='incremental', incremental_strategy='append') }}
        select order_id, amount from {{ ref('orders') }}
        {% if is_incremental() %} where order_id > (select max(order_id) from {{ this }}) {% endif %}""",
    "by_state": """{{ config(materialized='materialized_view') }}
        select state, count(*) as orders from {{ ref('orders') }} group by state""",
}
VIEWS = ("stg_members", "stg_orders", "stg_items", "orders", "members", "by_state")
"""The maintained models, each after what it reads."""


@pytest.fixture(scope="module")
def project(door: PostgresDoor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Path(shutil.copytree(EXAMPLE / "shop", tmp_path_factory.mktemp("dbt") / "shop"))
    shutil.rmtree(project / "analyses")  # it reads an earlier epoch with a macro of Freshet's adapter
    guide = next(block.text for block in blocks("docs/dbt.md") if "type: postgres" in block.text)
    dev = guide.replace("shop:", "roastery:").replace("5433", str(door.postgres_port))
    ada = dev[dev.index("    dev:") :].replace("dev:", "ada:").replace("public", "dev_ada")
    (project / "profiles.yml").write_text(dev + "\n" + ada)
    for name, text in MODELS.items():
        (project / f"models/marts/{name}.sql").write_text(text)
    return project


@pytest.fixture(scope="module")
def dbt(project: Path) -> Iterator[Dbt]:
    python = clients.interpreter("FRESHET_DBT_PYTHON", "dbt.adapters.postgres", "pip install dbt-postgres")
    dbt = Dbt(python, project)
    try:
        yield dbt
    finally:
        dbt.close()


@pytest.fixture(scope="module", autouse=True)
def built(dbt: Dbt) -> Outcome:
    """The first `dbt build`: seeds, models, tests, unit tests and the snapshot."""
    dbt.succeed("debug")
    return dbt.succeed("build")


def test_everything_is_built(built: Outcome, door: PostgresDoor, connection: psycopg.Connection) -> None:
    assert set(built.statuses.values()) == {"success", "pass"}
    definitions = door.runtime.definitions()
    assert {name for name in definitions if definitions[name].is_view} == set(VIEWS)
    assert definitions["orders"].details.comments[""] == "An order with the amounts of its items."
    assert definitions["orders"].details.comments["order_id"] == "The order's number."
    assert [index.columns for index in definitions["merged"].details.indexes] == [("order_id",)]
    wait_until(lambda: not any(name.startswith("pg_temp") for name in door.runtime.schemas()))
    assert not any("__dbt" in name for name in door.runtime.definitions())


def test_rows_arrive_without_dbt(project: Path, connection: psycopg.Connection) -> None:
    connection.execute("INSERT INTO raw_orders VALUES (9, 5, '2026-03-04', 'open')")
    connection.execute("INSERT INTO raw_items VALUES (12, 9, 'Huila', 4, 11.5)")
    connection.execute("DELETE FROM raw_orders WHERE id = 2; DELETE FROM raw_items WHERE order_id = 2")
    assert_rows_are_duckdbs(project, connection)


def assert_rows_are_duckdbs(project: Path, connection: psycopg.Connection) -> None:
    """The compiled models over the tables of the moment, as DuckDB computes them."""
    duck = duckdb.connect()
    for table in ("raw_members", "raw_orders", "raw_items"):
        cursor = connection.execute(f"SELECT * FROM {table}")
        rows = cursor.fetchall()
        types = {"int4": "INTEGER", "text": "TEXT", "date": "DATE", "numeric": "NUMERIC(8, 2)"}
        columns = [f"{c.name} {types[psycopg.adapters.types[c.type_code].name]}" for c in cursor.description]
        duck.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        duck.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    compiled = {path.stem: path for path in (project / "target/compiled/roastery/models").rglob("*.sql")}
    for view in VIEWS:
        text = compiled[view].read_text().replace('"freshet"."public".', "")
        duck.execute(f"CREATE VIEW {view} AS {text}")
        expected = Counter(duck.execute(f"FROM {view}").fetchall())
        assert Counter(connection.execute(f"SELECT * FROM {view}").fetchall()) == expected, view


def test_a_second_run_brings_the_copies_up_to_date(
    dbt: Dbt, project: Path, connection: psycopg.Connection
) -> None:
    """By DELETE and INSERT, by MERGE, by INSERT alone, and by versions; one model gets a column."""
    model = project / "models/marts/merged.sql"
    model.write_text(model.read_text().replace("order_id, state", "order_id, state, amount"))
    outcome = dbt.succeed("build", "--exclude", "resource_type:seed")
    assert set(outcome.statuses.values()) <= {"success", "pass"}
    found = connection.execute("SELECT amount FROM daily_sales WHERE placed = '2026-03-04'").fetchall()
    assert [float(amount) for (amount,) in found] == [46.0]
    missing = "SELECT order_id, state, amount FROM orders EXCEPT SELECT order_id, state, amount FROM merged"
    assert connection.execute(missing).fetchall() == []
    kept = connection.execute("SELECT order_id FROM merged EXCEPT SELECT order_id FROM orders").fetchall()
    assert kept == [(2,)]  # a merge does not delete
    assert connection.execute("SELECT max(order_id) FROM appended").fetchone() == (9,)
    versions = "SELECT count(*), count(dbt_valid_to) FROM member_history WHERE member_id = 5"
    assert connection.execute(versions).fetchone() == (2, 1)
    assert_rows_are_duckdbs(project, connection)


def test_a_seed_is_loaded_again(dbt: Dbt, project: Path, connection: psycopg.Connection) -> None:
    dbt.succeed("seed")
    assert connection.execute("SELECT count(*) FROM raw_orders").fetchone() == (8,)
    assert_rows_are_duckdbs(project, connection)  # the views have stayed


def test_a_model_that_is_made_again_takes_its_readers_with_it(
    dbt: Dbt, project: Path, connection: psycopg.Connection, door: PostgresDoor
) -> None:
    """As on PostgreSQL: dbt drops the old view with CASCADE. The guide says so."""
    dbt.succeed("run", "--select", "orders")
    assert not {"members", "by_state"} & door.runtime.definitions().keys()
    dbt.succeed("run")
    assert_rows_are_duckdbs(project, connection)


def test_schemas_keep_developers_apart(dbt: Dbt, door: PostgresDoor) -> None:
    before = set(door.runtime.definitions())
    dbt.succeed("build", "--target", "ada", "--select", "+stg_items", "--indirect-selection", "cautious")
    made = set(door.runtime.definitions()) - before
    assert {"dev_ada.raw_items", "dev_ada.stg_items"} <= made
    assert all(name.startswith("dev_ada") for name in made)


def test_the_docs_have_the_columns(dbt: Dbt, project: Path) -> None:
    dbt.succeed("docs", "generate")
    catalog = json.loads((project / "target/catalog.json").read_text())
    orders = catalog["nodes"]["model.roastery.orders"]
    assert orders["metadata"]["type"] == "MATERIALIZED VIEW"
    assert orders["columns"]["order_id"] | {"index": 1} == {
        "type": "integer", "index": 1, "name": "order_id", "comment": "The order's number.",
    }  # fmt: skip
