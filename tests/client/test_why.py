"""Why a row is there, and assertions, by the client."""

from __future__ import annotations

from decimal import Decimal

import pytest

import freshet
from freshet import Connection


def test_why_and_why_changed(db: Connection, name: str) -> None:
    db.sql(f"CREATE TABLE {name} (k BIGINT PRIMARY KEY, v NUMERIC(8, 2))")
    view = db.create_view(f"{name}_v", f"SELECT k % 2 AS odd, sum(v) AS total FROM {name} GROUP BY k % 2")
    db.sql(f"INSERT INTO {name} VALUES (1, 1.5), (3, 2), (4, 7)")
    found = view.why(odd=1, total=Decimal("3.50"))
    assert sorted(row["k"] for row in found["tables"][name]) == [1, 3]
    assert [it["diff"] for it in view.why_changed(odd=1, total="3.50")] == [1]
    with pytest.raises(freshet.NotFoundError):
        view.why(odd=5)
    assert view.why_not(odd=5)["because"]["of"] == [{"rule": "no row has k % 2 = 5"}]


def test_rounds(db: Connection, name: str) -> None:
    db.sql(f"CREATE TABLE {name} (a BIGINT, b BIGINT)")
    step = f"SELECT p.a, e.b FROM p JOIN {name} e ON p.b = e.a"
    recursion = f"WITH RECURSIVE p (a, b) AS (SELECT a, b FROM {name} UNION {step}) SELECT * FROM p"
    view = db.create_view(f"{name}_v", recursion)
    db.sql(f"INSERT INTO {name} VALUES (1, 2), (2, 3), (3, 4)")
    found = view.rounds("p")
    assert [(it["round"], it["came"]) for it in found["rounds"]] == [(1, 3), (2, 2), (3, 1)]
    assert found["rows"][-1] == {"round": 3, "diff": 1, "row": {"a": 1, "b": 4}}
    assert view.rounds()["name"] == "p"
    with pytest.raises(freshet.NotFoundError):
        view.rounds("q")


def test_assertions(db: Connection, name: str) -> None:
    db.sql(f"CREATE TABLE {name} (v BIGINT)")
    view = db.create_assertion(f"{name}_a", f"SELECT v FROM {name} WHERE v < 0")
    assert view.describe().breach == "refuse"
    with pytest.raises(freshet.ConflictError, match="would be broken by"):
        db.sql(f"INSERT INTO {name} VALUES (-1)")
    assert len(db.table(name).rows()) == 0
    view.drop()
    db.sql(f"INSERT INTO {name} VALUES (-1)")
    warns = db.create_assertion(f"{name}_w", f"SELECT v FROM {name} WHERE v < 0", warns=True)
    assert len(warns.rows()) == 1
