"""SQL through the client: results as rows, and parameters that cannot become anything but values."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import freshet
from freshet import Connection
from freshet.values.sql_parameters import with_parameters

VALUES: list[tuple[Any, Any, str]] = [
    (None, None, "INTEGER"),
    (True, True, "BOOLEAN"),
    (-5, -5, "INTEGER"),
    (2**40, 2**40, "BIGINT"),
    (Decimal("-1.50"), Decimal("-1.50"), "NUMERIC(3, 2)"),
    (1e300, 1e300, "DOUBLE PRECISION"),
    (float("-inf"), float("-inf"), "DOUBLE PRECISION"),
    (np.int16(4), 4, "INTEGER"),
    ("'; DROP TABLE x; --\\", "'; DROP TABLE x; --\\", "TEXT"),
    ("$1 :name", "$1 :name", "TEXT"),
    (date(2024, 2, 29), date(2024, 2, 29), "DATE"),
    (time(1, 2, 3), time(1, 2, 3), "TIME"),
    (datetime(2024, 2, 29, 1, 2, 3, 4), datetime(2024, 2, 29, 1, 2, 3, 4), "TIMESTAMP"),
    (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), "TIMESTAMPTZ"),
    (timedelta(days=-2, seconds=0.5), pa.MonthDayNano([0, -2, 5 * 10**8]), "INTERVAL"),
    (b"\x00'\xff", b"\x00'\xff", "BYTEA"),
    (UUID(int=3), str(UUID(int=3)), "UUID"),
    ({"a": ["it's", 1]}, {"a": ["it's", 1]}, "JSON"),
    ([1, 2], [1, 2], "INTEGER[]"),
    (["a", "b'"], ["a", "b'"], "TEXT[]"),
]


def test_parameters_of_every_type(db: Connection) -> None:
    values, expected, types = zip(*VALUES, strict=True)
    selected = ", ".join(f"${place} AS c{place}" for place in range(1, len(VALUES) + 1))
    rows = db.sql(f"SELECT {selected}", values)
    assert rows.tuples() == [expected]
    assert list(rows.columns.values()) == list(types)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
@settings(max_examples=25)
def test_a_text_stays_a_text(service: Any, text: str) -> None:
    with freshet.connect(service.url) as db:
        assert db.sql("SELECT :it AS it, $$:it$$ AS q", {"it": text}).tuples() == [(text, ":it")]


@pytest.mark.parametrize(
    ("sql", "parameters", "expected"),
    [
        ("SELECT $1, '$1', \"$1\"", [7], "SELECT 7, '$1', \"$1\""),
        ("$$ $1 $$, $a$ $1 $a$, E'\\'$1', $1", [7], "$$ $1 $$, $a$ $1 $a$, E'\\'$1', 7"),
        ("SELECT $2, $1, $2 -- $3\n", [1, 2], "SELECT 2, 1, 2 -- $3\n"),
        ("SELECT /* $2 /* $3 */ $4 */ $1", [1], "SELECT /* $2 /* $3 */ $4 */ 1"),
        ("SELECT :a::TEXT, x::a, ':a' || :b", {"a": 1, "b": "o'"}, "SELECT 1::TEXT, x::a, ':a' || 'o'''"),
        ("SELECT a$1, $1", [5], "SELECT a$1, 5"),
        ("SELECT 1-$1", [-5], "SELECT 1-(-5)"),
        ("SELECT $1", None, "SELECT $1"),
    ],
)  # fmt: skip
def test_parameters_stand_only_for_expressions(sql: str, parameters: Any, expected: str) -> None:
    assert with_parameters(sql, parameters, "postgres") == expected


@pytest.mark.parametrize(
    ("sql", "parameters", "dialect", "message"),
    [
        ("SELECT 1,\n $2", [1], "postgres", r"parameter \$2 has no value \(line 2, column 2\)"),
        ("SELECT :b", {"a": 1}, "postgres", "parameter :b has no value"),
        ("SELECT $1", [1, 2], "postgres", r"the SQL has no parameter \$2"),
        ("SELECT $0", [1], "postgres", r"parameter \$0 has no value"),
        ("SELECT $1", "text", "postgres", "the parameters are one text"),
        ("SELECT $1", [object()], "postgres", "object has no form in SQL"),
        ("SELECT $1", [[]], "postgres", "an empty list has no type"),
        ("SELECT $1", [Decimal("NaN")], "postgres", "NUMERIC has no NaN"),
        ("SELECT $1, 'x", [1], "postgres", "a quote is not closed"),
        ("SELECT $1", [1], "mysql", "parameters cannot be used in dialect mysql"),
    ],
)
def test_parameters_that_do_not_fit(sql: str, parameters: Any, dialect: str, message: str) -> None:
    with pytest.raises(freshet.InvalidRequestError, match=message):
        with_parameters(sql, parameters, dialect)


def test_results_of_statements(db: Connection, name: str) -> None:
    created, inserted, selected = db.script(
        f"CREATE TABLE {name} (id BIGINT, at TIMESTAMPTZ);"
        f"INSERT INTO {name} VALUES (1, '2024-01-01T00:00:00Z'), (2, NULL);"
        f"SELECT * FROM {name} ORDER BY id"
    )
    assert (created.statement, created.columns) == ("CREATE TABLE", {})
    assert inserted.count == 2
    assert selected.tuples() == [(1, datetime(2024, 1, 1, tzinfo=UTC)), (2, None)]
    assert selected.arrow().schema.types == db.table(name).rows().arrow().schema.types
    assert inserted.epoch == selected.epoch
    assert "INSERT 2" in repr(inserted) and "id BIGINT" in repr(selected)


def test_views(db: Connection, name: str) -> None:
    table = db.table(name).create("id BIGINT, n BIGINT")
    view = db.create_view(f"{name}_v", f"SELECT id, SUM(n) AS total FROM {name} GROUP BY id")
    epoch = table.insert([{"id": 1, "n": 2}, {"id": 1, "n": 3}]).epoch
    assert view.rows().dicts() == [{"id": 1, "total": 5}]
    table.insert({"id": 2, "n": 1})
    assert len(view.rows(as_of=epoch)) == 1
    assert view.describe().state == "ready"
    assert view.describe() in db.views()
    plan = view.plan()
    assert "total" in str(plan)
    assert plan._repr_mimebundle_()["text/vnd.mermaid"].startswith(("flowchart", "graph"))
    db.create_view(f"{name}_v", f"SELECT id FROM {name};", or_replace=True)
    assert view.rows(order_by="id").dicts() == [{"id": 1}, {"id": 1}, {"id": 2}]
    with pytest.raises(freshet.ConflictError):
        table.drop()
    view.drop()
    table.drop()
