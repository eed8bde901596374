"""Schemas: created and dropped, names with a schema in every statement and path, and the search path."""

from __future__ import annotations

import shutil

import pytest

from service.settings.settings import Settings
from tests.service.backups import back_up, restored
from tests.service.client import Client, code


def run(client: Client, sql: str, **options: object) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": sql, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def rows(client: Client, sql: str, **options: object) -> list:
    return run(client, sql, **options)[-1]["rows"]


def refused(client: Client, sql: str, **options: object) -> dict:
    """The problem of a script that fails."""
    answer = client.post("/v1/sql", {"sql": sql, **options})
    code(answer)
    return answer.json()


def names(client: Client, sql: str) -> list[str]:
    return [row[0] for row in rows(client, sql)]


SHOP = """
CREATE SCHEMA analytics;
CREATE TABLE orders (id BIGINT PRIMARY KEY, price BIGINT);
CREATE TABLE analytics.orders (id BIGINT PRIMARY KEY, price BIGINT);
INSERT INTO orders VALUES (1, 10);
INSERT INTO analytics.orders VALUES (1, 100), (2, 200)
"""


@pytest.fixture
def shop(client: Client) -> Client:
    run(client, SHOP)
    return client


# Schemas


def test_a_schema_is_made_once(client: Client) -> None:
    run(client, "CREATE SCHEMA s; CREATE SCHEMA IF NOT EXISTS s; CREATE SCHEMA t AUTHORIZATION ada")
    run(client, "CREATE SCHEMA AUTHORIZATION bob; CREATE SCHEMA IF NOT EXISTS public")
    assert names(client, "SHOW SCHEMAS") == ["bob", "public", "s", "t"]
    assert refused(client, "CREATE SCHEMA s")["code"] == "name_in_use"
    assert refused(client, "CREATE SCHEMA public")["code"] == "name_in_use"


def test_a_schema_has_a_comment(settings: Settings) -> None:
    def comments(client: Client) -> list:
        return rows(
            client,
            "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace "
            "WHERE nspname !~ '^(pg_|inf)' ORDER BY 1",
        )

    with Client(settings) as client:
        run(client, "CREATE SCHEMA s; CREATE SCHEMA t; COMMENT ON SCHEMA s IS 'of sales'")
        run(client, "COMMENT ON SCHEMA t IS 'soon gone'; COMMENT ON SCHEMA freshet.t IS NULL")
        assert comments(client) == [["public", "standard public schema"], ["s", "of sales"], ["t", None]]
        run(client, "COMMENT ON SCHEMA public IS 'the rest'; ALTER SCHEMA s RENAME TO sales")
        assert refused(client, "COMMENT ON SCHEMA nope IS 'x'")["code"] == "unknown_schema"
    with Client(settings) as client:
        assert comments(client) == [["public", "the rest"], ["sales", "of sales"], ["t", None]]
        run(client, "DROP SCHEMA sales; CREATE SCHEMA sales")
        assert comments(client)[1] == ["sales", None]
        found = rows(
            client, "SELECT objsubid, description FROM pg_description WHERE classoid = 2615 AND objoid > 99"
        )
        assert found == [[0, "the rest"]]


@pytest.mark.parametrize("name", ["pg_temp", "information_schema", '""', "main"])
def test_names_that_no_schema_can_have(client: Client, name: str) -> None:
    assert refused(client, f"CREATE SCHEMA {name}")["code"] in (
        "invalid_name",
        "name_in_use",
        "invalid_syntax",
    )


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE nope.t (a INT)",
        "CREATE TABLE nope.t AS SELECT 1 AS a",
        "CREATE TABLE nope.t (LIKE orders)",
        "CREATE VIEW nope.v AS SELECT 1 AS a",
        "CREATE TYPE nope.m AS ENUM ('a')",
        "ALTER TABLE orders SET SCHEMA nope",
        "GRANT SELECT ON ALL TABLES IN SCHEMA nope TO r",
        "GRANT USAGE ON SCHEMA nope TO r",
        "DROP SCHEMA nope",
    ],
)
def test_a_schema_that_does_not_exist(shop: Client, sql: str) -> None:
    run(shop, "CREATE ROLE r")
    problem = refused(shop, sql)
    assert (problem["status"], problem["code"]) == (404, "unknown_schema")
    assert "nope" in problem["detail"]


def test_a_schema_that_is_not_empty_stays(shop: Client) -> None:
    run(shop, "CREATE VIEW analytics.v AS SELECT id FROM orders; CREATE TYPE analytics.mood AS ENUM ('a')")
    problem = refused(shop, "DROP SCHEMA analytics")
    assert problem["code"] == "in_use" and "CASCADE" in problem["hint"]
    for held in ("table analytics.orders", "view analytics.v", "type analytics.mood"):
        assert held in problem["detail"]
    assert refused(shop, "DROP SCHEMA public CASCADE")["code"] == "in_use"


def test_cascade_drops_all_in_one_epoch(shop: Client) -> None:
    run(
        shop,
        """CREATE TABLE analytics.lines (id BIGINT, o BIGINT REFERENCES analytics.orders);
        CREATE TABLE lines (o BIGINT REFERENCES analytics.orders, p BIGINT REFERENCES orders);
        CREATE VIEW reads_it AS SELECT price FROM analytics.orders;
        CREATE VIEW reads_that AS SELECT price FROM reads_it;
        CREATE VIEW apart AS SELECT price FROM orders;
        CREATE TYPE analytics.mood AS ENUM ('a')""",
    )
    before = shop.get("/v1/status").json()["epoch"]
    run(shop, "DROP SCHEMA IF EXISTS nope, analytics CASCADE")
    assert shop.get("/v1/status").json()["epoch"] == before
    assert names(shop, "SHOW SCHEMAS") == ["public"]
    assert names(shop, "SHOW TABLES") == ["lines", "orders"]
    assert names(shop, "SHOW VIEWS") == ["apart"]
    run(shop, "INSERT INTO lines VALUES (77, 1)")  # what it referred to is gone
    assert refused(shop, "INSERT INTO lines VALUES (77, 7)")["code"] == "foreign_key_violated"
    run(shop, "CREATE SCHEMA analytics; CREATE TABLE analytics.orders (z INT)")
    assert rows(shop, "SELECT * FROM analytics.orders") == []


def test_all_of_it_outlives_a_restart_and_a_restore(settings: Settings) -> None:
    with Client(settings) as client:
        run(
            client,
            SHOP
            + ";"
            + """CREATE SCHEMA "My.Schema"; CREATE TYPE analytics.mood AS ENUM ('sad', 'ok');
            CREATE TABLE "My.Schema"."T.x" (m analytics.mood); INSERT INTO "My.Schema"."T.x" VALUES ('ok');
            CREATE SCHEMA dropped; DROP SCHEMA dropped""",
        )
        run(
            client,
            "CREATE VIEW totals AS SELECT sum(price) AS t FROM orders",
            search_path="analytics, public",
        )
        backup, _ = back_up(client, "copy")
    seen = [
        ("SHOW SCHEMAS", [["My.Schema"], ["analytics"], ["public"]]),
        ("SELECT * FROM analytics.totals", [[300]]),
        ('SELECT * FROM "My.Schema"."T.x"', [["ok"]]),
        ("SELECT 'sad'::analytics.mood", [["sad"]]),
    ]
    with Client(settings) as client:
        for sql, expected in seen:
            assert rows(client, sql) == expected
        run(client, "CREATE SCHEMA later")
        assert client.runtime.schemas()["later"] > client.runtime.schemas()["My.Schema"] + 1
    with Client(restored(backup, settings, "elsewhere")) as client:
        for sql, expected in seen:
            assert rows(client, sql) == expected


# Names


WITH_SCHEMA = [
    ("postgres", "analytics.orders"),
    ("postgres", '"analytics"."orders"'),
    ("postgres", "ANALYTICS.Orders"),
    ("postgres", '"freshet"."analytics"."orders"'),
    ("postgres", "freshet.analytics.orders"),
    ("mysql", "`analytics`.`orders`"),
    ("bigquery", "`freshet.analytics.orders`"),
    ("tsql", "[analytics].[orders]"),
    ("duckdb", "analytics.orders"),
    ("snowflake", "freshet.analytics.orders"),
    ("spark", "`analytics`.orders"),
]


def test_a_name_with_a_schema_in_each_dialect(shop: Client) -> None:
    for dialect, name in WITH_SCHEMA:
        found = rows(shop, f"SELECT id, price FROM {name} ORDER BY id", dialect=dialect)
        assert found == [[1, 100], [2, 200]], (dialect, name)


WITH_DATABASE = [
    ("snowflake", "LAKE.SALES.ORDERS"),
    ("bigquery", "`lake`.`sales`.`orders`"),
    ("bigquery", "`lake.sales.orders`"),
    ("bigquery", "lake.sales.orders"),
    ("databricks", "`lake`.`sales`.`orders`"),
    ("spark", "lake.sales.orders"),
    ("redshift", '"lake"."sales"."orders"'),
    ("trino", "lake.sales.orders"),
    ("tsql", "[lake].[sales].[orders]"),
    ("clickhouse", '"lake.sales".orders'),
    ("duckdb", "lake.sales.orders"),
    ("postgres", '"lake.sales".orders'),
]


def test_a_name_with_a_database_in_each_dialect(shop: Client) -> None:
    run(
        shop,
        """CREATE SCHEMA lake.sales; CREATE TABLE lake.sales.orders (id INT, price INT); CREATE SCHEMA sales;
        CREATE TABLE sales.orders (id INT, price INT); INSERT INTO sales.orders VALUES (7, 70);
        INSERT INTO lake.sales.orders VALUES (8, 80), (9, 90)""",
    )
    for number, (dialect, name) in enumerate(WITH_DATABASE):
        found = rows(shop, f"SELECT id, price FROM {name} ORDER BY id", dialect=dialect)
        assert found == [[8, 80], [9, 90]], (dialect, name)
        run(shop, f"CREATE VIEW v{number} AS SELECT sum(price) AS s FROM {name}", dialect=dialect)
    run(shop, "INSERT INTO lake.sales.orders VALUES (8, 1); DELETE FROM sales.orders")
    for number, named in enumerate(WITH_DATABASE):
        assert rows(shop, f"SELECT s FROM v{number}") == [[171]], named


def test_a_schema_of_another_database_is_a_schema(shop: Client) -> None:
    run(
        shop,
        """CREATE SCHEMA IF NOT EXISTS lake.sales; CREATE TYPE lake.sales.mood AS ENUM ('low', 'high');
        CREATE TABLE lake.sales.orders (id INT PRIMARY KEY, m lake.sales.mood);
        INSERT INTO lake.sales.orders VALUES (1, 'high');
        CREATE VIEW lake.sales.totals AS SELECT lake.sales.orders.m, count(lake.sales.orders.id) AS n
        FROM lake.sales.orders WHERE lake.sales.orders.m > 'low'::lake.sales.mood GROUP BY 1;
        UPDATE lake.sales.orders SET id = 2 WHERE lake.sales.orders.id = 1;
        CREATE FUNCTION lake.sales.twice(x INT) RETURNS INT LANGUAGE SQL AS 'SELECT 2 * x';
        COMMENT ON COLUMN lake.sales.orders.id IS 'the key'""",
    )
    assert rows(shop, "SELECT n, lake.sales.twice(3) FROM lake.sales.totals") == [[1, 6]]
    assert rows(shop, 'SELECT "lake.sales".orders.* FROM "lake.sales".orders') == [[2, "high"]]
    assert names(shop, "SHOW SCHEMAS") == ["analytics", "lake.sales", "public"]
    for path in ("lake.sales.totals", '"lake.sales".totals'):
        assert shop.get(f"/v1/views/{path}/rows").json()["rows"] == [{"m": "high", "n": 1}]
    assert rows(shop, "SELECT n FROM totals", search_path='"lake.sales"') == [[1]]
    assert refused(shop, "SELECT * FROM other.sales.orders")["code"] == "unknown_table"
    assert refused(shop, "SELECT other.sales.orders.id FROM lake.sales.orders")["status"] == 422
    assert refused(shop, "CREATE TABLE other.sales.t (a INT)")["hint"] == "CREATE SCHEMA other.sales"
    run(
        shop, "ALTER TABLE lake.sales.orders RENAME TO sold; ALTER TABLE lake.sales.sold SET SCHEMA analytics"
    )
    run(shop, "DROP SCHEMA lake.sales CASCADE")
    assert rows(shop, "SELECT id, m FROM analytics.sold") == [[2, "high"]]


def test_parts_with_dots_keep_their_places(shop: Client) -> None:
    run(
        shop,
        """CREATE SCHEMA "a.b".c; CREATE SCHEMA a."b.c"; CREATE TABLE "a.b".c.t (x INT);
        CREATE TABLE a."b.c".t (x INT); INSERT INTO "a.b".c.t VALUES (1); INSERT INTO a."b.c".t VALUES (2)""",
    )
    assert rows(shop, 'SELECT * FROM "a.b".c.t UNION ALL SELECT * FROM a."b.c".t ORDER BY 1') == [[1], [2]]


def test_statements_about_a_relation_of_a_schema(shop: Client) -> None:
    run(
        shop,
        """UPDATE analytics.orders SET price = price + 1 WHERE analytics.orders.id = 1;
        DELETE FROM analytics.orders USING orders AS o WHERE analytics.orders.id = o.id + 1;
        INSERT INTO analytics.orders AS o VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET price = o.price + 1;
        MERGE INTO analytics.orders t USING orders s ON t.id = s.id WHEN MATCHED THEN UPDATE SET price = 7;
        COMMENT ON TABLE analytics.orders IS 'of analytics'; COMMENT ON COLUMN analytics.orders.id IS 'key';
        ALTER TABLE analytics.orders ADD COLUMN note TEXT;
        ALTER TABLE analytics.orders RENAME note TO remark;
        ALTER TABLE analytics.orders RENAME TO sold""",
    )
    assert rows(shop, "SELECT * FROM analytics.sold") == [[1, 7, None]]
    assert rows(shop, "SELECT price FROM analytics.sold VERSION AS OF 3") == [[101], [200]]
    assert rows(shop, "SELECT * FROM orders") == [[1, 10]]
    assert rows(shop, "DESCRIBE analytics.sold")[0][-1] == "key"
    ((_, text),) = rows(shop, "SHOW CREATE TABLE analytics.sold")
    assert text.startswith("CREATE TABLE analytics.sold (") and "TABLE analytics.sold IS 'of" in text
    run(shop, "CREATE TABLE analytics.copy (LIKE analytics.sold INCLUDING ALL); CREATE SCHEMA b")
    run(shop, "CREATE TABLE b.copy AS SELECT * FROM analytics.sold; TRUNCATE analytics.sold, b.copy")
    assert rows(shop, "DELETE FROM b.copy RETURNING b.copy.id") == []
    run(shop, "ALTER TABLE b.copy SET SCHEMA public; DROP TABLE copy, analytics.copy; DROP SCHEMA b")


def test_a_table_that_moves_keeps_its_readers_and_its_past(shop: Client) -> None:
    run(shop, "CREATE VIEW v AS SELECT sum(price) AS s FROM analytics.orders; CREATE SCHEMA b")
    run(shop, "ALTER TABLE analytics.orders SET SCHEMA b; ALTER VIEW v SET SCHEMA b")
    run(shop, "INSERT INTO b.orders VALUES (3, 300)")
    assert rows(shop, "SELECT s FROM b.v") == [[600]]
    assert rows(shop, "SELECT count(*) FROM b.orders VERSION AS OF 2") == [[2]]
    assert refused(shop, "DROP SCHEMA b")["code"] == "in_use"
    run(shop, "DROP SCHEMA analytics")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT public.orders.id FROM analytics.orders",
        "SELECT analytics.orders.id FROM analytics.orders AS o",
        "SELECT (SELECT analytics.orders.id FROM public.orders LIMIT 1) FROM analytics.orders",
        "SELECT analytics.orders.id FROM orders",
        "DELETE FROM orders WHERE analytics.orders.id = 1",
        "CREATE VIEW v AS SELECT public.orders.id FROM analytics.orders",
    ],
)
def test_a_column_of_another_schemas_table_is_refused(shop: Client, sql: str) -> None:
    problem = refused(shop, sql)
    assert problem["status"] == 422 and "orders" in problem["detail"] and problem["hint"]


def test_columns_with_a_schema(shop: Client) -> None:
    sql = "SELECT analytics.orders.price, o.price FROM analytics.orders JOIN public.orders o USING (id)"
    assert rows(shop, sql) == [[100, 10]]
    run(shop, f"CREATE VIEW both_prices (a, b) AS {sql}")
    assert rows(shop, "SELECT * FROM public.both_prices") == [[100, 10]]
    assert rows(shop, "SELECT freshet.analytics.orders.* FROM analytics.orders ORDER BY 1 LIMIT 1") == [
        [1, 100]
    ]


def test_a_name_with_a_dot_is_no_schema(client: Client) -> None:
    run(
        client,
        """CREATE SCHEMA a; CREATE TABLE a.b (x INT); CREATE TABLE "a.b" (x INT);
        INSERT INTO a.b VALUES (1); INSERT INTO "a.b" VALUES (2);
        CREATE VIEW "a.v" AS SELECT x FROM "a.b" """,
    )
    assert rows(client, 'SELECT a.x, "a.b".x FROM a.b AS a, "a.b"') == [[1, 2]]
    assert client.get("/v1/tables/a.b/rows").json()["rows"] == [{"x": 1}]
    assert client.get('/v1/tables/"a.b"/rows').json()["rows"] == [{"x": 2}]
    assert client.get("/v1/views/%22a.v%22/rows").json()["rows"] == [{"x": 2}]
    assert names(client, "SHOW TABLES") == ['"a.b"', "a.b"]
    run(client, "DROP SCHEMA a CASCADE")
    assert rows(client, 'SELECT * FROM "a.v"') == [[2]]


def test_types_of_a_schema(client: Client) -> None:
    run(
        client,
        """CREATE SCHEMA s; CREATE TYPE s.mood AS ENUM ('low', 'high'); CREATE TYPE mood AS ENUM ('a', 'b');
        CREATE TABLE t (x s.mood, y freshet.s.mood, z mood, u public.mood); INSERT INTO t VALUES
        ('high', 'low', 'a', 'b')""",
    )
    assert rows(client, "SELECT x > 'low'::s.mood, CAST('low' AS \"s\".mood) = y, z < 'b'::mood FROM t") == [
        [True, True, True]
    ]
    assert rows(client, "SELECT 'low'::mood", search_path="s, public") == [["low"]]
    assert refused(client, "SELECT 'low'::mood")["status"] == 422
    assert refused(client, "CREATE TYPE s.mood AS ENUM ('x')")["code"] == "name_in_use"
    assert refused(client, "DROP TYPE nope.mood")["status"] == 404
    run(client, "DROP TYPE s.mood; DROP SCHEMA s")
    assert rows(client, "SELECT x FROM t") == [["high"]]


# Over HTTP


def test_paths_take_names_with_a_schema(shop: Client) -> None:
    made = shop.post("/v1/views", {"name": "analytics.v", "sql": "SELECT id FROM analytics.orders"})
    assert made.json()["name"] == "analytics.v" and made.json()["schema"] == "analytics"
    assert made.headers["location"] == "/v1/views/analytics.v"
    for path in ("analytics.v", "Analytics.V", '"analytics".v', "freshet.analytics.v"):
        assert shop.get(f"/v1/views/{path}/rows").json()["rows"] == [{"id": 1}, {"id": 2}]
    columns = [{"name": "a", "type": "BIGINT"}]
    made = shop.post("/v1/tables", {"name": 'analytics."A b"', "columns": columns})
    assert shop.get(made.headers["location"]).json()["name"] == "analytics.A b"
    deltas = {
        "analytics.orders": [{"insert": {"id": 9, "price": 9}}],
        "orders": [{"insert": {"id": 9, "price": 8}}],
    }
    assert shop.post("/v1/deltas", {"tables": deltas}).status_code == 200
    assert shop.get("/v1/tables/analytics.orders/changes?since=2").text.count('{"id":9,"price":9}') == 1
    assert {t["name"]: t.get("schema") for t in shop.get("/v1/tables").json()["tables"]} == {
        "analytics.A b": "analytics",
        "analytics.orders": "analytics",
        "orders": None,
    }
    assert 'relation="analytics.orders"' in shop.get("/metrics").text
    assert shop.delete("/v1/views/analytics.v").status_code == 204


def test_a_slash_in_a_name_is_encoded(client: Client) -> None:
    run(client, 'CREATE TABLE "a/b" (x INT); CREATE SCHEMA "s/t"; CREATE TABLE "s/t".u (x INT)')
    assert client.post("/v1/tables/%22a%2Fb%22/deltas", [{"insert": {"x": 1}}]).status_code == 200
    assert client.get("/v1/tables/%22a%2fb%22/rows").json()["rows"] == [{"x": 1}]
    assert client.get("/v1/tables/%22s%2Ft%22.u").json()["name"] == "s/t.u"
    assert client.get('/v1/tables/"a/b"').status_code == 404


# The search path


def test_the_first_schema_that_has_the_name_is_meant(shop: Client) -> None:
    count = "SELECT count(*) FROM orders"
    assert rows(shop, count) == [[1]]
    for path in ("analytics", "analytics, public", ["nope", "analytics"], '"analytics"', "'analytics'"):
        assert rows(shop, count, search_path=path) == [[2]], path
    for path in ("public, analytics", "main", "nope, public", '"$user", public', "DEFAULT"):
        assert rows(shop, count, search_path=path) == [[1]], path
    assert refused(shop, count, search_path="nope")["code"] == "unknown_table"
    assert refused(shop, "SELECT * FROM apart", search_path="analytics")["detail"].endswith(
        '"analytics.apart"'
    )
    assert refused(shop, count, search_path="a b")["code"] == "invalid_query"


def test_set_search_path_holds_for_what_follows(shop: Client) -> None:
    found = run(
        shop,
        """SET search_path TO analytics, public; SELECT count(*) FROM orders; SHOW search_path;
        SET SESSION search_path = 'public'; SELECT count(*) FROM orders;
        SET LOCAL search_path TO analytics; BEGIN; INSERT INTO orders VALUES (3, 300); COMMIT;
        SET search_path TO DEFAULT; SELECT count(*) FROM orders""",
    )
    answered = [result["rows"] for result in found if "rows" in result]
    assert answered == [[[2]], [["analytics, public"]], [[1]], [[1]]]
    assert rows(shop, "SELECT count(*) FROM analytics.orders") == [[3]]
    for sql in ("BEGIN; SET search_path TO analytics; COMMIT", "SET work_mem TO 1", "SET search_path"):
        assert refused(shop, sql)["status"] in (400, 422)


def test_what_is_created_goes_to_the_first_schema_that_exists(shop: Client) -> None:
    run(
        shop,
        """CREATE TABLE t (a INT PRIMARY KEY, o BIGINT REFERENCES orders, p INT REFERENCES t);
        CREATE VIEW v AS SELECT a FROM t; CREATE TYPE m AS ENUM ('x'); CREATE TABLE u AS SELECT * FROM v;
        CREATE TABLE w (LIKE u); ALTER TABLE w RENAME TO x; DROP TABLE x""",
        search_path="nope, analytics, public",
    )
    assert names(shop, "SHOW TABLES") == ["analytics.orders", "analytics.t", "analytics.u", "orders"]
    ((_, text),) = rows(shop, "SHOW CREATE TABLE analytics.t")
    assert "REFERENCES analytics.orders (id)" in text and "REFERENCES analytics.t (a)" in text
    assert refused(shop, "CREATE TABLE t (a INT)", search_path="nope")["code"] == "invalid_query"


def test_a_view_keeps_what_its_names_meant(shop: Client) -> None:
    run(
        shop,
        """CREATE TABLE public.only_public (id BIGINT); INSERT INTO only_public VALUES (5);
        CREATE VIEW v AS WITH orders AS (SELECT sum(price) AS s FROM orders)
          SELECT s, id FROM orders, only_public;
        CREATE VIEW public.w AS SELECT orders.id FROM orders WHERE analytics.orders.price > 100""",
        search_path="analytics, public",
    )
    run(shop, "CREATE TABLE analytics.only_public (id BIGINT)")
    assert rows(shop, "SELECT * FROM analytics.v") == [[300, 5]]
    assert rows(shop, "SELECT * FROM w") == [[2]]
    run(shop, "INSERT INTO analytics.orders VALUES (3, 1000)")
    assert rows(shop, "SELECT s FROM analytics.v") == [[1300]]
    ((_, text),) = rows(shop, "SHOW CREATE VIEW analytics.v")
    assert 'FROM "analytics".orders)' in text and "FROM orders, only_public" in text


@pytest.mark.parametrize("start", ["CREATE VIEW v AS ", "CREATE VIEW v (k) AS ", "EXPLAIN ", ""])
def test_a_fault_behind_a_resolved_name_has_its_place(shop: Client, start: str) -> None:
    sql = f"{start}SELECT a.id FROM orders AS a, orders AS b WHERE nope = 1"
    problem = refused(shop, sql, search_path="analytics")
    assert problem["position"] == {"line": 1, "column": sql.index("nope") + 1}
    sql = f"{start}SELECT a.id FROM orders AS a,\n orders AS b\nWHERE a.id = 1 AND nope = 1"
    assert refused(shop, sql, search_path="analytics")["position"] == {"line": 3, "column": 20}


def test_a_long_text_has_a_search_path_too(shop: Client) -> None:
    many = ", ".join(map(str, range(8000)))
    sql = f"SELECT count(*) FROM orders WHERE id IN ({many})"
    assert rows(shop, sql, search_path="analytics") == [[2]]


def test_dropping_a_schema_ends_what_is_built_in_it(settings: Settings) -> None:
    with Client(settings) as client:
        run(client, "CREATE SCHEMA s; CREATE TABLE t (a INT); CREATE VIEW s.v AS SELECT a FROM t")
        run(client, "DROP SCHEMA s CASCADE")
        assert refused(client, "SELECT * FROM s.v")["code"] == "unknown_table"


def test_a_view_over_http_takes_a_search_path(client: Client) -> None:
    run(client, "CREATE SCHEMA app; CREATE TABLE app.t (a INT); CREATE TABLE t (b INT)")
    run(client, "CREATE FUNCTION app.twice(a INT) RETURNS INT RETURN a * 2; INSERT INTO app.t VALUES (4)")
    for number, path in enumerate(("app, public", ["app"])):
        sql = {"name": f"v{number}", "sql": "SELECT twice(a) FROM t", "search_path": path}
        assert client.post("/v1/views", sql).status_code == 201
        assert rows(client, f"SELECT * FROM v{number}") == [[8]]
    wrong = {"name": "w", "sql": "SELECT twice(a), nope FROM t", "search_path": "app"}
    answer = client.post("/v1/views", wrong)
    assert code(answer) == (422, "unknown_column")
    assert answer.json()["position"] == {"line": 1, "column": 18}
    assert client.post("/v1/views", {"name": "w", "sql": "SELECT a FROM t"}).status_code == 422


def test_a_schema_is_renamed_with_all_that_is_in_it(settings: Settings) -> None:
    with Client(settings) as client:
        run(
            client,
            """CREATE SCHEMA a; CREATE TYPE a.mood AS ENUM ('low', 'high'); CREATE SEQUENCE a.s START WITH 7;
            CREATE TABLE a.t (id BIGINT DEFAULT nextval('a.s') PRIMARY KEY, m a.mood);
            CREATE TABLE u (
                t BIGINT REFERENCES a.t ON DELETE CASCADE, n BIGINT NOT NULL DEFAULT nextval('a.s')
            );
            CREATE FUNCTION a.twice(n BIGINT) RETURNS BIGINT LANGUAGE SQL AS 'SELECT n * 2';
            CREATE VIEW a.v AS SELECT id, m FROM a.t WHERE m > 'low'::a.mood;
            CREATE VIEW outside AS SELECT v.id, u.n FROM a.v JOIN u ON u.t = v.id;
            INSERT INTO a.t (m) VALUES ('high'), ('low'); INSERT INTO u (t) SELECT id FROM a.t""",
        )
        epoch = client.get("/v1/status").json()["epoch"]
        run(client, "ALTER SCHEMA a RENAME TO b; INSERT INTO b.t (m) VALUES ('high')")
        for name, said in (("public", "in_use"), ("gone", "unknown_schema")):
            assert refused(client, f"ALTER SCHEMA {name} RENAME TO c")["code"] == said
        assert refused(client, "ALTER SCHEMA b RENAME TO pg_x")["code"] == "invalid_name"
        assert refused(client, "ALTER SCHEMA b RENAME TO public")["code"] == "name_in_use"
        assert client.get("/v1/views/a.v").status_code == 404
        _check_renamed(client, epoch)
        shutil.copytree(settings.data, settings.data.parent / "killed")
    with Client(settings) as client:
        _check_renamed(client, epoch)
    with Client(Settings(data=settings.data.parent / "killed")) as client:
        _check_renamed(client, epoch)
        run(client, "DELETE FROM b.t WHERE id = 7; SELECT nextval('b.s')")
        assert client.rows("outside") == [] and len(client.rows("u")) == 1
        run(client, "CREATE SCHEMA a; DROP SCHEMA b CASCADE; DROP SCHEMA a")
        assert client.rows("u") == [(8, client.rows("u")[0][1])]


def _check_renamed(client: Client, epoch: int) -> None:
    assert [row[1] for row in sorted(client.rows("b.v"))] == ["high", "high"]
    assert [row[0] for row in client.rows("outside")] == [7]
    past = client.get("/v1/views/b.v/rows", as_of=epoch).json()["rows"]
    assert past == [{"id": 7, "m": "high"}]
    assert run(client, "SELECT b.twice(4) AS n, 'high'::b.mood AS m")[0]["rows"] == [[8, "high"]]
    assert refused(client, "SELECT a.twice(4)")
