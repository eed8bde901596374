"""JSON in pieces: the same values as when parsed at once, and the same texts refused."""

from __future__ import annotations

import json
import random

import orjson
import pytest

from service.decoding import json_scanner as scanning
from service.decoding import pieces
from service.decoding.pieces import elements, parsed_lines, spans
from service.errors import ServiceError
from tests.seeds import SEED

TEXTS = ["a", '"', "\\", '\\"', "[{,}]", 'é\\\\"', "\n", "", "]", "\\\\"]


def value(rng: random.Random, depth: int = 0) -> object:
    kind = rng.random()
    if depth > 3 or kind < 0.4:
        return rng.choice([1, None, True, 1.5, *TEXTS])
    if kind < 0.7:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(TEXTS): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def damaged(rng: random.Random, text: bytes) -> bytes:
    """The text with one byte removed, inserted or replaced."""
    found = bytearray(text)
    place, byte = rng.randrange(len(found)), rng.choice(b'[]{},":\\ 1x')
    match rng.randrange(3):
        case 0:
            del found[place]
        case 1:
            found.insert(place, byte)
        case _:
            found[place] = byte
    return bytes(found)


def whole(text: bytes) -> list | None:
    """The elements that a parser finds."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, list) else None


def in_pieces(text: bytes) -> list | None:
    try:
        return [found for _, values in elements(text) for found in values]
    except ServiceError:
        return None


@pytest.mark.parametrize("window", [1, 2, 3, 7, 16, 50, 1000])
def test_arrays(monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    """Windows may end anywhere: inside strings, escapes, numbers."""
    monkeypatch.setattr(pieces, "WHOLE", 0)
    monkeypatch.setattr(scanning, "WINDOW", window)
    rng = random.Random(SEED + window)
    refused = 0
    for _ in range(60):
        values = [value(rng) for _ in range(rng.randrange(6))]
        text = json.dumps(values, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1])).encode()
        assert in_pieces(text) == values
        for _ in range(3):
            broken = damaged(rng, text)
            found = whole(broken)
            assert in_pieces(broken) == found, broken
            refused += found is None
    assert refused > 40


@pytest.mark.parametrize("window", [1, 5, 40, 1000])
def test_lines(monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    monkeypatch.setattr(pieces, "WINDOW", window)
    rng = random.Random(SEED + window)
    for _ in range(100):
        texts = [rng.choice([orjson.dumps(value(rng)), b"", b" \t"]) for _ in range(8)]
        kept = [(i, orjson.loads(text)) for i, text in enumerate(texts, 1) if text.strip()]
        found = [
            pair
            for numbers, values in parsed_lines(b"\n".join(texts))
            for pair in zip(numbers, values, strict=True)
        ]
        assert found == kept


def test_spans_are_what_a_body_of_several_tables_has() -> None:
    body = b'{"tables": {"a": [1, [2]], "b": [], "c": {"d": [3]}}}'
    shell, found = spans(body, 3, 10)
    assert orjson.loads(shell) == {"tables": {"a": [], "b": [], "c": {}}}
    assert [body[low:high] for low, high in found] == [b"[1, [2]]", b"[]", b'{"d": [3]}']


def test_an_error_has_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "WHOLE", 0)
    monkeypatch.setattr(scanning, "WINDOW", 8)
    body = '[1, "äö", 3, 4,  5,  \n6, x]'.encode()
    with pytest.raises(ServiceError, match=rf"line 2 column 4 \(byte {body.index(b'x')}\)"):
        list(elements(body))


@pytest.mark.parametrize("text", [b"[" + b"1," * 1_500_000, b"[" * 2_000_000, b'{"a":' + b"[]," * 800_000])
def test_one_text_of_too_many_values(text: bytes) -> None:
    for parse in (pieces.parse_json, lambda text: list(parsed_lines(text))):
        with pytest.raises(ServiceError, match="values"):
            parse(text)


@pytest.mark.parametrize("longest", [b'"%s"', b'{"insert":{"a":"%s"}}'])
def test_one_text_that_is_too_long(longest: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LONGEST", 1000)
    monkeypatch.setattr(pieces, "WHOLE", 100)
    monkeypatch.setattr(pieces, "WINDOW", 100)
    monkeypatch.setattr(scanning, "WINDOW", 100)
    short, long = longest % (b"x" * 900), longest % (b"x" * 1200)
    assert len([v for _, values in elements(b"[%s,%s]" % (short, short)) for v in values]) == 2
    assert len([v for _, values in parsed_lines(b"%s\n%s" % (short, short)) for v in values]) == 2
    for found in (elements(b"[%s,%s]" % (short, long)), parsed_lines(b"%s\n%s" % (short, long))):
        with pytest.raises(ServiceError) as refused:
            list(found)
        assert refused.value.code == "too_large"
