"""A data directory from before there were schemas: all that exists is in `public`, and nothing is lost.

Such a directory differs from a new one in its catalog alone: a table that is called raw.orders there stands
in the log and in the state's files as table orders of schema raw does now. So the tests make a new directory,
and write its catalog as the first revision had it.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.catalog.connections import upgrade
from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.test_schemas import names, rows, run

DEFINITIONS = """
CREATE SCHEMA raw;
CREATE TABLE plain (a BIGINT PRIMARY KEY);
CREATE TABLE raw.orders (id BIGINT PRIMARY KEY, x BIGINT);
CREATE TABLE raw.lines (o BIGINT REFERENCES raw.orders, y BIGINT CHECK (y > 0));
INSERT INTO plain VALUES (1);
INSERT INTO raw.orders VALUES (1, 10), (2, 20);
INSERT INTO raw.lines VALUES (1, 5);
CREATE TYPE raw.mood AS ENUM ('a', 'b');
CREATE VIEW raw.v AS SELECT x, x + 1 AS y FROM raw.orders;
CREATE VIEW w AS SELECT sum(y) AS s, count(*) AS n FROM raw.v;
CREATE VIEW unnamed AS SELECT 1;
CREATE ROLE r
"""


def made_old(data: Path) -> None:
    """Writes the catalog as the first revision had it."""
    with sqlite3.connect(data / "freshet.db") as catalog:
        branches = ("branches", "branch_log", "branch_merges", "branch_views")
        for later in ("schemas", "schema_comments", "functions", "sequences", "replacements", *branches):
            catalog.execute(f"DROP TABLE {later}")
        catalog.execute("UPDATE alembic_version SET version_num = '0002'")
        for dotted in ("raw.orders", "raw.lines", "raw.v"):
            catalog.execute("UPDATE relations SET sql = replace(sql, ?, ?)", (dotted, f'"{dotted}"'))
        catalog.execute("""UPDATE relations SET details = json_remove(details, '$.named')""")
        catalog.execute(
            "UPDATE roles SET permissions = ?",
            [json.dumps([["SELECT", "*"], ["INSERT", "raw.*"], ["UPDATE", "raw*"], ["DELETE", "plain"]])],
        )


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_an_older_directory_goes_on(settings: Settings, has_checkpoint: bool) -> None:
    with Client(settings) as client:
        run(client, DEFINITIONS)
    if has_checkpoint:  # the end of the first service wrote one; this is a log behind it
        with Client(settings) as client:
            run(client, "INSERT INTO raw.orders VALUES (3, 30)")
    made_old(settings.data)
    more = [[3, 30]] if has_checkpoint else []
    with Client(settings) as client:
        assert names(client, "SHOW SCHEMAS") == ["public"]
        assert names(client, "SHOW TABLES") == ['"raw.lines"', '"raw.orders"', "plain"]
        assert rows(client, 'SELECT * FROM "raw.orders" ORDER BY id') == [[1, 10], [2, 20], *more]
        assert rows(client, 'SELECT count(*) FROM "raw.orders" VERSION AS OF 2') == [[2]]
        assert rows(client, 'SELECT x FROM "raw.v" ORDER BY x') == [[10], [20], *([row[1]] for row in more)]
        assert rows(client, "SELECT n FROM w") == [[2 + len(more)]]
        assert client.get("/v1/views/unnamed").json()["columns"][0]["name"] == "1"
        assert client.post("/v1/sql", {"sql": 'INSERT INTO "raw.lines" VALUES (77, 1)'}).status_code == 409
        run(client, """INSERT INTO "raw.orders" VALUES (4, 40); INSERT INTO "raw.lines" VALUES (4, 1)""")
        assert rows(client, "SELECT n FROM w") == [[3 + len(more)]]
        (role,) = (role for role in client.get("/v1/roles").json()["roles"] if role["name"] == "r")
        assert role["permissions"] == {
            "SELECT": ["public.*"],
            "INSERT": ['"raw.*"'],
            "UPDATE": ["raw*"],
            "DELETE": ["plain"],
        }
        run(client, "CREATE SCHEMA raw; CREATE TABLE raw.orders (z INT)")
    with Client(settings) as client:
        assert rows(client, "SELECT * FROM raw.orders") == []
        assert rows(client, "SELECT n FROM w") == [[3 + len(more)]]
        run(client, 'ALTER TABLE "raw.lines" RENAME TO lines; ALTER TABLE lines SET SCHEMA raw')
        assert rows(client, "SELECT count(*) FROM raw.lines") == [[2]]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_migration_in_each_kind_of_database(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("shared_catalog")
    engine = sa.create_engine(url)
    columns = '[{"name": "a", "kind": "BIGINT", "precision": null, "scale": null, "nullable": true}]'
    relation = {"primary_key": None, "dialect": "", "sql": "", "created": 0, "details": None, "layout": None}
    sees = {"sees": {"a.b": ["a.b", {"a": "a"}, None], "c": ["c", {}, None]}}
    keys = {
        "constraints": [{"foreign": ["a"], "name": "k", "table": "a.b", "target": ["a"], "on_delete": ""}]
    }
    with engine.connect() as connection, connection.begin():
        upgrade(connection, "0001")
        tables = sa.MetaData()
        tables.reflect(connection)
        add = tables.tables["relations"].insert()
        connection.execute(add.values(relation | {"name": "a.b", "columns": columns}))
        connection.execute(
            add.values(relation | {"name": "c", "columns": columns, "details": json.dumps(keys)})
        )
        connection.execute(
            add.values(relation | {"name": "v.w", "columns": None, "details": json.dumps(sees)})
        )
        upgrade(connection)
    with engine.connect() as connection:
        found = {row.name: row for row in connection.execute(tables.tables["relations"].select())}
        (layout,) = connection.execute(tables.tables["layouts"].select())
    engine.dispose()
    assert found.keys() == {'"a.b"', "c", '"v.w"'}
    table = found['"a.b"']
    assert (layout.id, layout.relation, layout.name) == (table.id, table.id, "a.b")
    assert json.loads(layout.change) == [[0], [], []] and table.layout > max(row.id for row in found.values())
    assert json.loads(found["c"].details)["constraints"][0]["table"] == '"a.b"'
    seen = json.loads(found['"v.w"'].details)["sees"]
    assert seen == {'"a.b"': ['"a.b"', {"a": "a"}, None], "c": ["c", {}, None]}
