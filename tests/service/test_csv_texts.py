"""Fields of CSV are read as a load reads them.

`loaded_fields.json` has what `/v1/loads`, through Spark, made of each text for each type, or REFUSED.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import exp

from engine.codec.arrow import encode_arrow
from engine.codec.decimals import encode_decimals
from engine.codec.json import decode_rows
from engine.errors import InvalidValue
from engine.schema import DOUBLE, TEXT, Column, Schema, numeric
from engine.state.dictionary import Dictionary
from planner.sql_types import data_type
from service.decoding.csv_texts import plain_texts
from tests.service.client import Client, code

REFUSED = "REFUSED"
LOADED = json.loads((Path(__file__).parent / "loaded_fields.json").read_text())
TAKEN_HERE_ALONE = {
    ("JSON", '{"a":1,"a":2}'),
    ("TIME", "10"),
    ("TIMESTAMP", "2024-01-01T10"),
    ("TIMESTAMP", "2024-01-01T10:11Z"),
    ("TIMESTAMPTZ", "2024-01-01T10"),
    ("TIMESTAMPTZ", "2024-01-01T10:11Z"),
    ("TIMESTAMPTZ", "2024-01-01T10:11:12+19:00"),
    ("INTERVAL", "P1234567890D"),
    ("UUID", "c1a2b3c4000040008000000000000001"),
    ("UUID", "{c1a2b3c4-0000-4000-8000-000000000001}"),
    *((type, "\t7") for type in ("NUMERIC(5, 2)", "NUMERIC(38, 0)", "DOUBLE PRECISION", "REAL")),
}
TAKEN_BY_LOADS_ALONE = {
    *((type, "1e-400") for type in ("NUMERIC(5, 2)", "NUMERIC(38, 0)")),
    *((type, day) for type in ("DATE", "TIMESTAMP") for day in ("10000-01-01", "294247-01-01")),
    ("TIMESTAMP", "10000-01-01T00:00:00"),
    *(("BYTEA", text) for text in ("AP8", "YW I=", "YQ")),
}


def read(text: str, type: str) -> object:
    """The JSON value that a field becomes, or REFUSED. An empty text is in quotes."""
    schema = Schema((Column("v", data_type(exp.DataType.build(type, dialect="postgres"))),))
    dictionary = Dictionary()
    batch = pa.RecordBatch.from_arrays([pa.array([text], pa.large_string())], names=["v"])
    try:
        words = encode_arrow(plain_texts(batch, schema), schema, dictionary)
    except InvalidValue:
        return REFUSED
    return decode_rows(words, schema, dictionary)[0][0]


@pytest.mark.parametrize("type", LOADED)
def test_each_field_is_what_a_load_makes_of_it(type: str) -> None:
    fields = LOADED[type]
    assert len({text for text, _ in fields}) == len(fields)
    for text, loaded in fields:
        found = read(text, type)
        if (type, text) in TAKEN_HERE_ALONE:
            assert (found != REFUSED, loaded) == (True, REFUSED), text
        elif (type, text) in TAKEN_BY_LOADS_ALONE:
            assert (found, loaded != REFUSED) == (REFUSED, True), text
        else:
            assert found == loaded, text


def test_a_batch_of_texts_is_its_fields() -> None:
    """All accepted texts of a type in one batch give the values that they have alone, with NULLs between."""
    for type, fields in LOADED.items():
        good = [text for text, _ in fields if read(text, type) != REFUSED]
        texts = [each for text in good for each in (text, None)]
        schema = Schema((Column("v", data_type(exp.DataType.build(type, dialect="postgres"))),))
        dictionary = Dictionary()
        batch = pa.RecordBatch.from_arrays([pa.array(texts, pa.large_string())], names=["v"])
        words = encode_arrow(plain_texts(batch, schema), schema, dictionary)
        found = [value for (value,) in decode_rows(words, schema, dictionary)]
        assert found == [each for text in good for each in (read(text, type), None)], type


WIDE = [
    "3.4028235e38",
    "1e39",
    "-1e39",
    "340282350000000000000000000000000000000",
    "3.5E39",
    "1e999999999",
    "1e38",
]


@pytest.mark.parametrize("text", WIDE)
def test_a_number_that_arrow_would_wrap_around_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"out of range|not a valid NUMERIC|does not fit"):
        try:
            encode_decimals(pa.array(["1", text]), numeric(38, 0), Dictionary())
        except pa.ArrowInvalid as error:
            raise InvalidValue(str(error)) from None


def test_a_float_out_of_range_is_no_infinity() -> None:
    schema = Schema((Column("v", DOUBLE), Column("t", TEXT)))
    table = pa.table({"v": ["1e308", None, "inf", "1e400"], "t": ["a", "b", "c", "d"]})
    with pytest.raises(
        InvalidValue, match=r'column v: "1e400" is not a valid DOUBLE PRECISION: out of range'
    ):
        encode_arrow(table, schema, Dictionary())
    words = encode_arrow(table.slice(0, 3), schema, Dictionary())
    assert words.shape == (2, 3)


def test_errors_name_the_line_and_the_column(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "at": "TIMESTAMPTZ", "s": "TEXT"})
    headers = {"Content-Type": "text/csv"}
    head = 'id,at,s\n517.0,2024-01-01T10:00:00+02:00," a\nb "\n'
    for line, column in [("5.5,,x", "id"), ("7,2024-01-01T10:00:00+2,x", "at"), ("0x10,,", "id")]:
        answer = client.post("/v1/tables/t/deltas", content=head + line + "\n9,,\n", headers=headers)
        assert code(answer) == (422, "invalid_value")
        assert answer.json()["detail"].startswith(f"line 4: column {column}: "), answer.text
    assert client.post("/v1/tables/t/deltas", content=head, headers=headers).status_code == 200
    assert client.rows("t") == [(517, "2024-01-01T08:00:00Z", " a\nb ")]
