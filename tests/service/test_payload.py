"""Payloads: decoding returns what was encoded, with any dictionary, or raises."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.words import NULL
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state.dictionary import Dictionary
from service.changes.payload import DamagedPayload, decode_payload, encode_payload

TEXTS = Schema((Column("id", BIGINT), Column("name", TEXT)))
NUMBERS = Schema((Column("n", BIGINT),))


def delta_of(dictionary: Dictionary, rows: list[tuple[int, str | None]], epoch: int = 3) -> np.ndarray:
    ids = np.array([id for id, _ in rows], np.int64)
    words = dictionary.intern([text for _, text in rows])
    return np.vstack((ids, words, np.full(len(rows), epoch), np.ones(len(rows), np.int64)))


@pytest.mark.parametrize("count", [0, 1, 3, 5000])
def test_a_payload_stands_for_itself(count: int) -> None:
    mine, other = Dictionary(), Dictionary()
    rows = [(i, None if i % 7 == 3 else f"text ü {i % 1000}") for i in range(count)]
    texts, numbers = delta_of(mine, rows), np.array([[NULL, 2**63 - 1], [1, 2], [-1, 5]])
    payload = encode_payload({7: (TEXTS, texts), 9: (NUMBERS, numbers)}, mine)
    (first, found_texts), (second, found_numbers) = decode_payload(payload, other)
    assert (first, second) == (7, 9)
    np.testing.assert_array_equal(found_texts, texts)
    np.testing.assert_array_equal(found_numbers, numbers)
    assert other.texts(found_texts[1]) == [text for _, text in rows]


def test_nothing_at_all() -> None:
    assert decode_payload(encode_payload({}, Dictionary()), Dictionary()) == []


def test_large_payloads_are_compressed() -> None:
    delta = np.zeros((3, 10_000), np.int64)
    assert len(encode_payload({1: (NUMBERS, delta)}, Dictionary())) < delta.nbytes // 100


@pytest.mark.parametrize("count", [1, 5000])
def test_damage_is_an_error(count: int) -> None:
    dictionary = Dictionary()
    payload = encode_payload({1: (TEXTS, delta_of(dictionary, [(i, "x") for i in range(count)]))}, dictionary)
    for place in (0, 2, 6, len(payload) // 2, len(payload) - 1):
        damaged = bytearray(payload)
        damaged[place] ^= 1
        with pytest.raises(DamagedPayload):
            decode_payload(bytes(damaged), Dictionary())
    for length in (0, 3, 6, len(payload) - 1):
        with pytest.raises(DamagedPayload):
            decode_payload(payload[:length], Dictionary())
