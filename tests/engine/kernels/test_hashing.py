from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.kernels.hashing import hash_texts


def hashes(texts: list[str], round: int = 0) -> np.ndarray:
    _, offsets, data = pa.array(texts, pa.large_string()).buffers()
    bounds = np.frombuffer(offsets, np.int64, len(texts) + 1)
    return hash_texts(bounds, np.frombuffer(data, np.uint8), round)


def test_similar_texts_do_not_collide():
    texts = [
        f"{prefix}{i}" for prefix in ("", "item-", "a longer prefix than a block ") for i in range(50_000)
    ]
    texts += ["\0" * n for n in range(200)] + ["a" * n + "b" * (200 - n) for n in range(200)]
    for round in (0, 1):
        assert len(np.unique(hashes(texts, round))) == len(texts)


def test_rounds_are_independent():
    texts = [str(i) for i in range(10_000)]
    assert not np.isin(hashes(texts, 0), hashes(texts, 1)).any()
    by_round = [hashes(texts, round) & 255 for round in (0, 1)]
    agree = (by_round[0] == by_round[1]).mean()
    assert 0 < agree < 3 / 256


def test_every_bit_is_even():
    bits = (hashes([str(i) for i in range(20_000)])[:, None] >> np.arange(64)) & 1
    assert (np.abs(bits.mean(axis=0) - 0.5) < 0.02).all()


def test_a_text_hashes_alike_wherever_it_stands():
    texts = ["x", "some text", "12345678", "", "ä" * 9]
    together = hashes(texts)
    assert [int(hashes([text])[0]) if text else int(together[3]) for text in texts] == together.tolist()
