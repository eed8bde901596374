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


TYPED_LISTS: list[tuple[Any, list[Any], str]] = [
    ([date(2024, 2, 29), None], [date(2024, 2, 29), None], "DATE[]"),
    ([Decimal("1.5"), Decimal("-20")], [Decimal("1.5"), Decimal("-20.0")], "NUMERIC(3, 1)[]"),
    ([Decimal("1E+3"), 7], [Decimal(1000), Decimal(7)], "NUMERIC(4, 0)[]"),
    ([1.5, 2], [1.5, 2.0], "DOUBLE PRECISION[]"),
    (np.array([1.5, 2.0]), [1.5, 2.0], "DOUBLE PRECISION[]"),
    ([UUID(int=1)], [str(UUID(int=1))], "UUID[]"),
    ([b"a", None], [b"a", None], "BYTEA[]"),
    ([datetime(2024, 1, 1, tzinfo=UTC)], [datetime(2024, 1, 1, tzinfo=UTC)], "TIMESTAMPTZ[]"),
    ((None, True), [None, True], "BOOLEAN[]"),
]


@pytest.mark.parametrize(("given", "expected", "type"), TYPED_LISTS)
def test_lists_have_the_type_of_their_elements(db: Connection, given: Any, expected: Any, type: str) -> None:
    rows = db.sql("SELECT $1 AS a", [given])
    assert rows.tuples() == [(expected,)]
    assert rows.columns == {"a": type}


def test_numbers_of_all_sizes(db: Connection) -> None:
    numbers = [2**63 - 1, -(2**63), 2**63, -(10**38) + 1, Decimal("0E-5"), Decimal("1E-38"), Decimal("-0")]
    selected = ", ".join(f"${place} AS c{place}" for place in range(1, len(numbers) + 1))
    assert db.sql(f"SELECT {selected}", numbers).tuples() == [tuple(numbers)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("text", "the parameters are one text"),
        ([object()], "object has no form in SQL"),
        ([[object()]], "object has no form in SQL"),
        ([Decimal("NaN")], "NUMERIC has no NaN"),
        ([10**38], "39 digits"),
        ([[1, "a", date(2024, 1, 1)]], "different types"),
        ([{"a": date(2024, 1, 1)}], "JSON cannot hold"),
        (["\ud800"], "cannot be written as JSON"),
    ],
)
def test_values_that_sql_does_not_have(db: Connection, parameters: Any, message: str) -> None:
    with pytest.raises(freshet.InvalidRequestError, match=message):
        db.sql("SELECT $1", parameters)


@pytest.mark.parametrize(
    ("sql", "parameters", "message"),
    [
        ("SELECT 1,\n $2", [1, 2, 3], "a value is given for parameter 1"),
        ("SELECT 1,\n $2", [1], "parameter 1"),
        ("SELECT 1,\n $2 + $1", [1], r"parameter 2 has no value \(line 2, column 2\)"),
        ("SELECT :b", {"a": 1}, "parameter"),
        ("SELECT $1", [1, 2], "a value is given for parameter 2"),
    ],
)
def test_parameters_that_the_sql_lacks(db: Connection, sql: str, parameters: Any, message: str) -> None:
    with pytest.raises(freshet.InvalidRequestError, match=message):
        db.sql(sql, parameters)


def test_parameters_in_other_dialects(db: Connection) -> None:
    text = "it's \\' --"
    assert db.sql("SELECT `a` FROM (SELECT :x AS `a`) AS t", {"x": text}, dialect="mysql").tuples() == [
        (text,)
    ]


def test_what_comes_as_arrow(service: Any, db: Connection, name: str) -> None:
    """`sql` takes rows as Arrow, and JSON for what Arrow cannot say; both say the same of a result."""
    db.table(name).create("id BIGINT PRIMARY KEY")
    returned = db.sql(f"INSERT INTO {name} VALUES (1), (2) RETURNING id")
    assert (returned.statement, returned.count, len(returned)) == ("INSERT", 2, 2)
    inserted = db.sql(f"INSERT INTO {name} VALUES (3)")
    assert (inserted.statement, inserted.count, inserted.columns) == ("INSERT", 1, {})
    assert db.sql("SHOW TABLES").statement == "SHOW TABLES"
    assert db.sql(f"SELECT 1; SELECT id FROM {name} WHERE id = 3").tuples() == [(3,)]
    assert db.sql("SELECT 1 AS a, 2 AS a").tuples() == [(1, 2)]
    assert len(db.sql("SELECT 1 AS a WHERE FALSE")) == 0
    with pytest.raises(freshet.InvalidRequestError, match="no statement"):
        db.sql("-- nothing")
    assert db.script("-- nothing") == []
    far = db.sql("SELECT DATE '12000-01-01' AS day").arrow()
    assert far.schema.field("day").type == pa.date32()


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
