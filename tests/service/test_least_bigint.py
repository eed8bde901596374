"""BIGINT's least value, the word of NULL, and NUMERIC's NaN: refused at every door, and never NULL."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from io import BytesIO

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from service.decoding.parsing import ARROW, CSV, JSON, NDJSON, PARQUET
from service.settings.settings import Settings
from tests.service.client import Client

LEAST = -(2**63)
REACHED = (
    "n - 1",
    "n - i",
    "n * 1 - 1",
    "~(-n)",
    "n & -2",
    "h::BIGINT",
    "m::BIGINT",
    "d::BIGINT",
    "s::BIGINT",
    "floor(d)::BIGINT",
    "greatest(h, -9223372036854775808)::BIGINT",
    "CASE WHEN i = 1 THEN n - 1 ELSE 0 END",
    "coalesce(n - 1, 5)",
    "ARRAY[h::BIGINT]",
    "ROW(h::BIGINT)",
    "(doc ->> 'a')::BIGINT",
    "min(h)::BIGINT",
    "sum(n - 1)",
    "bit_xor(k)",
    "i::BIGINT << 63",
)
"""Expressions over the row whose value would be the least BIGINT."""
CONSTANT = (f"{LEAST}::BIGINT", "-9223372036854775807 - 1", f"'{LEAST}'::BIGINT", f"({LEAST})::BIGINT")
NEVER_NUMERIC = ("'NaN'::NUMERIC(9, 2)", "'Infinity'::NUMERIC(9, 2)", "'-inf'::NUMERIC(9, 2)")
FLOATS = ("f::NUMERIC(9, 2)", "(-f)::NUMERIC(9, 2)", "(f - f)::NUMERIC(9, 2)", "t::NUMERIC(9, 2)")
TABLE = """
CREATE TABLE big (id INTEGER PRIMARY KEY, n BIGINT, h HUGEINT, m NUMERIC(38, 0), d DOUBLE PRECISION, s TEXT,
  i INTEGER, doc JSON, k BIGINT, f DOUBLE PRECISION, t TEXT);
INSERT INTO big VALUES (1, -9223372036854775807, -9223372036854775808, -9223372036854775808,
  -9223372036854775808.0, '-9223372036854775808', 1, '{"a": "-9223372036854775808"}', -9223372036854775807,
  'Infinity', 'NaN'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL);
CREATE TABLE plain (id INTEGER PRIMARY KEY, n BIGINT, p NUMERIC(9, 2))
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("least"))) as client:
        assert client.post("/v1/sql", {"sql": TABLE}).status_code == 200
        yield client


def stream(table: pa.Table) -> bytes:
    sink = BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def file(table: pa.Table) -> bytes:
    sink = BytesIO()
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


def bodies() -> Iterator[tuple[str, str, bytes]]:
    """Bodies with a value that its column does not take, by format."""
    for column, value in (("n", str(LEAST)), ("p", '"NaN"'), ("p", '"Infinity"')):
        bare = value.strip('"')
        yield column, JSON, f'[{{"insert":{{"id":7,"{column}":{value}}}}}]'.encode()
        yield column, NDJSON, f'{{"insert":{{"id":7,"{column}":{value}}}}}\n'.encode()
        yield column, CSV, f"id,{column}\n7,{bare}\n".encode()
        array = pa.array([LEAST]) if column == "n" else pa.array([float(bare)])
        table = pa.table({"id": pa.array([7], pa.int32()), column: array})
        yield column, ARROW, stream(table)
        yield column, PARQUET, file(table)
    numbers = pa.table({"id": pa.array([7], pa.int32()), "n": pa.array([Decimal(LEAST)])})
    yield "n", ARROW, stream(numbers)
    yield "n", PARQUET, file(pa.table({"id": pa.array([7], pa.int32()), "n": pa.array([float(LEAST)])}))


@pytest.mark.parametrize(("column", "form", "body"), list(bodies()))
def test_no_body_has_them(service: Client, column: str, form: str, body: bytes) -> None:
    answered = service.post("/v1/tables/plain/deltas", content=body, headers={"Content-Type": form})
    assert answered.status_code == 422, answered.text
    assert f"column {column}" in answered.json()["detail"]
    assert service.rows("plain") == []


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize("expression", REACHED)
def test_no_view_has_the_least_bigint(service: Client, expression: str, dialect: str) -> None:
    if dialect == "duckdb":
        expression = expression.replace("ROW(h::BIGINT)", "row(h::BIGINT)")
    body = {"name": "v", "sql": f"SELECT {expression} AS a FROM big", "dialect": dialect}
    made = service.post("/v1/views", body)
    assert made.status_code == 201, made.text
    try:
        answered = service.get("/v1/views/v/rows")
        assert answered.status_code == 409, answered.text
        assert answered.json()["code"] == "view_has_errors"
    finally:
        service.delete("/v1/views/v")


@pytest.mark.parametrize("expression", CONSTANT + NEVER_NUMERIC)
def test_no_view_is_made_of_such_a_constant(service: Client, expression: str) -> None:
    made = service.post("/v1/views", {"name": "v", "sql": f"SELECT {expression} AS a"})
    assert made.status_code in (400, 422), made.text


@pytest.mark.parametrize("expression", FLOATS)
def test_no_numeric_is_nan_or_infinite(service: Client, expression: str) -> None:
    service.post("/v1/views", {"name": "v", "sql": f"SELECT {expression} AS a FROM big WHERE id = 1"})
    try:
        answered = service.get("/v1/views/v/rows")
        assert (answered.status_code, answered.json().get("code")) == (409, "view_has_errors"), answered.text
    finally:
        service.delete("/v1/views/v")


@pytest.mark.parametrize("expression", [*REACHED[:4], *REACHED[5:9], *CONSTANT[1:], str(LEAST)])
def test_no_statement_stores_the_least_bigint(service: Client, expression: str) -> None:
    statements = (
        f"INSERT INTO plain SELECT id, {expression} FROM big WHERE id = 1",
        f"UPDATE big SET n = {expression} WHERE id = 1",
    )
    for sql in statements:
        answered = service.post("/v1/sql", {"sql": sql})
        assert answered.status_code == 422, answered.text
        assert "reserved" in answered.json()["detail"]
    assert service.rows("plain") == []


@pytest.mark.parametrize("value", [*CONSTANT, str(LEAST), f"{LEAST}.0", f"'{LEAST}'"])
def test_no_values_store_it(service: Client, value: str) -> None:
    answered = service.post("/v1/sql", {"sql": f"INSERT INTO plain (id, n) VALUES (1, {value})"})
    assert answered.status_code == 422, answered.text
    assert service.rows("plain") == []


@pytest.mark.parametrize("value", ["'NaN'", "'Infinity'", "'NaN'::float8", "'-Infinity'::float8"])
def test_no_values_store_nan_as_numeric(service: Client, value: str) -> None:
    for sql in (
        f"INSERT INTO plain (id, p) VALUES (1, {value})",
        f"INSERT INTO plain (id, p) SELECT 1, {value}",
    ):
        answered = service.post("/v1/sql", {"sql": sql})
        assert answered.status_code == 422, answered.text
    assert service.rows("plain") == []
