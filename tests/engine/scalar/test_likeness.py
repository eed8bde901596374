"""LIKE by segments, beside DuckDB's answers, over texts that nearly match."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.codec.json import encode_rows
from engine.kernels.words import NULL
from engine.plan.expressions import ColumnRef, Foreign
from engine.scalar.evaluator import column
from engine.scalar.foreign import foreign
from engine.scalar.likeness import likeness
from engine.scalar.program import ScalarProgram
from engine.schema import BOOLEAN, JSON, TEXT, Column, Schema
from engine.state.dictionary import Dictionary
from tests.seeds import SEED

SCHEMA = Schema((Column("name", TEXT),))
PATTERNS = ["%", "%%", "a%", "%a", "%a%", "a%a", "%ab%ba%", "ab%%ba", "a%b%a", "%é%", "é%🐍", "%''%"]
LONGER = ["%b%b%b%", "%aab%", "aa%aa", "%%%aba%%%"]
EDGES = ["", "a", "aa", "aaa", "aaaa", "ab", "aba", "abba", "ababa", "é", "é🐍", "é é🐍", "'", "%", "\0a"]


def texts() -> list[tuple[str | None]]:
    draw = random.Random(f"likeness {SEED}")
    drawn = ["".join(draw.choices("aabé'", k=draw.randrange(12))) for _ in range(300)]
    return [(text,) for text in (*EDGES, None, *drawn)]


@pytest.mark.parametrize("negation", ["", "NOT "])
@pytest.mark.parametrize("pattern", PATTERNS + LONGER)
def test_segments_are_found_as_duckdb_finds_them(pattern, negation):
    dictionary = Dictionary()
    template = f"{{0}} {negation}LIKE '{pattern}'"
    text = column(0, TEXT)
    own = likeness(Foreign(template, (ColumnRef(0, TEXT),), BOOLEAN), [text], dictionary)
    duck = foreign(template, [text], BOOLEAN, dictionary)
    assert own is not None
    words = encode_rows(texts(), SCHEMA, dictionary)
    found = own.evaluate(words, [], None)
    assert found.tolist() == duck.evaluate(words, [], None).tolist()
    assert found[len(EDGES)] == NULL


@pytest.mark.parametrize("pattern", ["a_%", "a\\%%", "abc", "%{0}%", f"%{'a' * 65}%", "%a" * 9, "%\ud800%"])
def test_other_patterns_are_left_to_duckdb(pattern):
    expression = Foreign(f"{{0}} LIKE '{pattern}'", (ColumnRef(0, TEXT),), BOOLEAN)
    assert likeness(expression, [column(0, TEXT)], Dictionary()) is None


def test_only_texts_have_bytes_to_look_at():
    expression = Foreign("{0} LIKE '%a%'", (ColumnRef(0, JSON),), BOOLEAN)
    assert likeness(expression, [column(0, JSON)], Dictionary()) is None


def test_an_unknown_text_is_an_error():
    program = ScalarProgram((Foreign("{0} LIKE '%a%'", (ColumnRef(0, TEXT),), BOOLEAN),), Dictionary())
    with pytest.raises(KeyError):
        program(np.array([[12345]], np.int64))
