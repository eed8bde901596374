"""CSV bodies: cut anywhere, they are refused or are the rows before the cut; quotes are told from text."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Sequence

import pytest

from engine.codec.json import encode_rows
from engine.schema import TEXT, Column, Schema
from engine.state.dictionary import Dictionary
from service.decoding.csv_body import read_csv
from service.errors import BadRequest
from service.reading.text_columns import csv_header, csv_lines
from service.settings.budget import Budget

BUDGET = Budget(10**6, 1 << 30)


def rows(body: bytes) -> list[tuple[str, ...]]:
    """The rows of a body; NULL is an empty text here."""
    batches = read_csv(body, 10**6, BUDGET)
    return [tuple(value or "" for value in row.values()) for batch in batches for row in batch.to_pylist()]


def refused(body: bytes) -> str:
    with pytest.raises(BadRequest) as error:
        rows(body)
    assert (error.value.code, bool(error.value.hint)) == ("invalid_body", True)
    return error.value.message


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b'a,b\n1,"x', 2),
        (b'a,b\n1,"x\n', 2),
        (b'a,b\n1,"x\ny\n\n', 2),
        (b'a,b\r\n1,x\r\n2,"x\r\ny\r\n', 3),
        (b'a,b\n1,"x\ny"\n2,"z', 4),
        (b'a,b\n1,"x""', 2),
        (b'a,b\n1,"', 2),
        (b'a,b\n"1', 2),
        (b'a,b\n"1,2\n3,4\n', 2),
        (b'"a,b\n1,2\n', 1),
        (b'"', 1),
        (b'a\n5" pipe\n"6', 3),
        (b'a\n1\n"' + b"x" * 200_000, 3),
        (b'a\n1\n"' + b"x\n" * 3_000_000, 3),
    ],
)
def test_a_quote_that_is_open_at_the_end_is_refused_with_its_line(body: bytes, line: int) -> None:
    assert refused(body) == f"a quote that opens in line {line} is still open at the end of the body"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'a,b\n1,"x"', [("1", "x")]),
        (b'a,b\n1,"x"\n\n', [("1", "x")]),
        (b'a,b\n1,"x""y"\n', [("1", 'x"y')]),
        (b'a,b\n1,""\n', [("1", "")]),
        (b'a\n5" pipe\n', [('5" pipe',)]),
        (b'a\n5" pipe', [('5" pipe',)]),
        (b'a\r1\r"2"\r', [("1",), ("2",)]),
        (b"a,b\n", []),
        (b"\xef\xbb\xbfa\n1\n", [("1",)]),
    ],
)
def test_a_body_whose_quotes_are_closed_is_whole(body: bytes, found: list) -> None:
    assert rows(body) == found


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_blank_line_is_a_null_where_there_is_one_column(end: str) -> None:
    lines = ["", "a", "", '""', "x", "", "", '" "', ""]
    for body in (end.join(lines), end.join([*lines, ""])):
        read = [value for batch in read_csv(body.encode(), 10**6, BUDGET) for value in batch[0].to_pylist()]
        last = [None] if body.endswith(2 * end) else []
        assert read == [None, "", "x", None, None, " ", *last]
    assert rows(end.join(["a,b", "", "1,2", ""]).encode()) == [("1", "2")]


def test_the_rows_of_one_column_are_read_as_they_were_written() -> None:
    schema = Schema((Column("a", TEXT),))
    values = [None, "", "x", None, "\n", " ", None]
    dictionary = Dictionary()
    words = encode_rows([(value,) for value in values], schema, dictionary)
    body = csv_header(schema) + csv_lines(words, schema, dictionary)
    read = [value for batch in read_csv(body, 10**6, BUDGET) for value in batch[0].to_pylist()]
    assert read == values


def test_a_fault_behind_a_blank_line_has_its_line() -> None:
    with pytest.raises(BadRequest, match="line 5 has 2 fields, and the header has 1"):
        rows(b"a\n\n1\n\n2,3\n")


def written(table: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_MINIMAL).writerows(table)
    return text.getvalue().encode()


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_is_refused_or_leaves_the_rows_before_it(seed: int) -> None:
    """What is written here has quotes around fields and in pairs within them only, so an odd number of quotes
    is an open quotation."""
    chance = random.Random(seed)
    pieces = ["x", "ñ", '"', "\n", "\r\n", ",", " ", "5"]
    table = [
        tuple("".join(chance.choices(pieces, k=chance.randrange(1, 6))) for _ in range(2)) for _ in range(5)
    ]
    whole = written([("a", "b"), *table])
    assert rows(whole) == table
    for cut in range(len(whole)):
        body = whole[:cut]
        try:
            found = rows(body)
        except BadRequest:
            continue
        before = max(0, len(found) - 1)
        assert found[:before] == table[:before]
        assert body.count(b'"') % 2 == 0, "a quotation is open"
