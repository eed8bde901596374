"""Why a view has no row: what turns it away, and what is missing."""

from __future__ import annotations

import json

import pytest

from tests.service.client import Client, code
from tests.service.test_why import GRAPH, sql

SHOP = """
CREATE TABLE customers (id BIGINT PRIMARY KEY, name TEXT, active BOOLEAN);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total NUMERIC(8, 2));
INSERT INTO customers VALUES (1, 'ann', TRUE), (2, 'bob', FALSE), (3, 'cid', TRUE);
INSERT INTO orders VALUES (10, 1, 5), (11, 2, 50), (12, 1, 70);
CREATE VIEW big AS SELECT c.name, o.id, o.total FROM customers c JOIN orders o ON o.customer = c.id
    WHERE c.active AND o.total > 20;
CREATE VIEW sums AS SELECT name, count(*) AS n FROM big GROUP BY name;
CREATE VIEW idle AS SELECT name FROM customers c WHERE NOT EXISTS
    (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.total > 60);
CREATE VIEW best AS SELECT id, total FROM orders ORDER BY total DESC LIMIT 2;
CREATE VIEW either AS SELECT name FROM customers UNION SELECT 'dora';
CREATE VIEW others AS SELECT name FROM customers EXCEPT SELECT name FROM customers WHERE active;
"""


@pytest.fixture
def shop(client: Client) -> Client:
    sql(client, SHOP)
    return client


def why_not(client: Client, view: str, **row: object) -> dict:
    answer = client.get(f"/v1/views/{view}/why-not", row=json.dumps(row))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_filter_turns_the_row_away(shop: Client) -> None:
    found = why_not(shop, "big", name="bob")["because"]
    assert found["rule"] == "active turns away this row"
    assert found["row"] == {"id": 2, "name": "bob", "active": False}
    found = why_not(shop, "big", id=10)["because"]
    assert found["rule"] == "total > 20.00 turns away this row"


def test_a_table_lacks_a_row(shop: Client) -> None:
    found = why_not(shop, "big", name="eve")
    assert found["because"]["rule"] == "table customers has no such row"
    assert found["missing"] == {"customers": [{"name": "eve"}]}
    both = why_not(shop, "big", name="eve", id=99)
    assert both["missing"] == {"customers": [{"name": "eve"}], "orders": [{"id": 99}]}


def test_no_row_with_a_null_is_missing_where_none_can_be(shop: Client) -> None:
    shop.view("both", "SELECT o.id, c.id AS customer FROM customers c JOIN orders o ON o.customer = c.id")
    for view, row in (("both", {"id": None}), ("both", {"id": 99, "customer": None})):
        found = why_not(shop, view, **row)
        assert "NULL" in str(found["because"]) and "never" in str(found["because"]), found
        assert all(None not in row.values() for rows in found["missing"].values() for row in rows)
    assert why_not(shop, "either", name=None)["missing"] == {"customers": [{"name": None}]}


def test_a_join_has_no_pair(shop: Client) -> None:
    found = why_not(shop, "big", name="cid")
    assert found["because"]["rule"] == "no rows meet customers.id = orders.customer"
    assert (
        why_not(shop, "big", name="ann", id=11)["because"]["rule"]
        == "no rows meet customers.id = orders.customer"
    )


def test_a_group_over_a_view(shop: Client) -> None:
    other = why_not(shop, "sums", name="ann", n=2)["because"]
    assert other["rule"] == "the group has other values" and other["row"] == {"name": "ann", "count": 1}
    found = why_not(shop, "sums", name="eve")
    assert found["because"]["rule"] == "the group has no row"
    assert found["missing"] == {"customers": [{"name": "eve"}]}


def test_what_takes_rows_away(shop: Client) -> None:
    found = why_not(shop, "idle", name="ann")["because"]
    assert found["rule"] == "a match takes the row away"
    assert why_not(shop, "best", id=10)["because"]["rule"] == "the row is not among the first 2"
    assert why_not(shop, "others", name="ann")["because"]["rule"] == "EXCEPT takes the row away"
    union = why_not(shop, "either", name="fay")
    assert union["missing"]["customers"] == [{"name": "fay"}]


def test_a_recursion(client: Client) -> None:
    sql(client, GRAPH)
    found = why_not(client, "paths", a=4, b=1)
    assert found["because"]["rule"] == "no round of p makes the row"
    assert {"a": 4, "b": 1} in found["missing"]["edges"]


def test_a_row_that_is_there(shop: Client) -> None:
    answer = shop.get("/v1/views/big/why-not", row='{"name": "ann"}')
    assert code(answer) == (409, "row_is_there")


@pytest.mark.parametrize("view", ["big", "sums", "idle", "best", "either", "others"])
def test_any_view_has_an_answer_for_nulls_and_nothing(shop: Client, view: str) -> None:
    columns = [column["name"] for column in shop.get(f"/v1/views/{view}").json()["columns"]]
    for name in columns:
        assert why_not(shop, view, **{name: None})["because"]["rule"]
    sql(shop, "DELETE FROM orders; DELETE FROM customers")
    for name in columns:
        assert why_not(shop, view, **{name: None})["because"]["rule"]


def test_a_window_lacks_a_row_or_has_other_values(shop: Client) -> None:
    sql(shop, "CREATE VIEW w AS SELECT id, total, row_number() OVER (ORDER BY id) AS n FROM orders")
    assert why_not(shop, "w", id=99)["missing"] == {"orders": [{"id": 99}]}
    found = why_not(shop, "w", id=11, n=1)["because"]
    assert found["rule"] == "the window has other values"
    assert found["row"] == {"id": 11, "customer": 2, "total": "50.00", "row_number": 2}


def test_a_row_that_two_reads_lack_is_missing_once(shop: Client) -> None:
    sql(
        shop,
        """CREATE VIEW next AS SELECT a.id, x.above FROM orders a, LATERAL
        (SELECT max(b.id) AS above FROM orders b WHERE b.id >= a.id) x""",
    )
    assert why_not(shop, "next", id=99)["missing"] == {"orders": [{"id": 99}]}
