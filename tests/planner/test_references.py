"""Which tables a query names, and the order of names that use each other."""

from __future__ import annotations

import pytest
import sqlglot

from planner.bind.references import components
from planner.parsing.table_references import table_names


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT * FROM a JOIN B ON TRUE, (SELECT * FROM c) x", {"a", "b", "c"}),
        ("SELECT (SELECT max(x) FROM a) WHERE EXISTS (SELECT 1 FROM b)", {"a", "b"}),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", {"a"}),
        ("WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b", set()),
        ("WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a", set()),
        ("SELECT * FROM s.a", set()),
    ],
)
def test_names(sql: str, names: set[str]) -> None:
    assert table_names(sqlglot.parse_one(sql, read="postgres")) == names


def test_components_come_in_the_order_of_their_use() -> None:
    uses = {
        "top": frozenset({"even", "leaf", "table"}),
        "even": frozenset({"odd"}),
        "odd": frozenset({"even", "leaf"}),
        "leaf": frozenset(),
        "self": frozenset({"self"}),
    }
    assert components(uses) == [["leaf"], ["even", "odd"], ["top"], ["self"]]
