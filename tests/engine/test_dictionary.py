from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EngineError, InvalidValue, OverBudget
from engine.kernels.hashing import hash_texts
from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary
from engine.state.trial_dictionary import TrialDictionary

TEXTS = ["", "a", "b", "12345678", "123456789", "Grüße", "日本語", "🐍", "a\0b", "x" * 10_000]


def constant_hash(offsets: np.ndarray, data: np.ndarray, round: int) -> np.ndarray:
    """Every text collides with every other in every round."""
    return np.full(offsets.size - 1, round * 3, np.int64)


def null_hash(offsets: np.ndarray, data: np.ndarray, round: int) -> np.ndarray:
    """NULL at first, then the real hash."""
    return constant_hash(offsets, data, 0) + NULL if round == 0 else hash_texts(offsets, data, round)


def narrow_hash(offsets: np.ndarray, data: np.ndarray, round: int) -> np.ndarray:
    """Three values a round, so that some texts collide and some do not."""
    return hash_texts(offsets, data, round) % 3 + 10 * round


HASHES = [hash_texts, constant_hash, null_hash, narrow_hash]


@pytest.mark.parametrize("hash", HASHES)
def test_each_text_has_one_word_and_each_word_one_text(hash):
    dictionary = Dictionary(hash)
    words = [dictionary.word(text) for text in TEXTS]
    assert len(set(words)) == len(TEXTS)
    assert NULL not in words
    assert [dictionary.word(text) for text in TEXTS] == words
    assert [dictionary.text(word) for word in words] == TEXTS
    assert len(dictionary) == len(TEXTS)


@pytest.mark.parametrize("hash", HASHES)
@settings(deadline=None)
@given(texts=st.lists(st.none() | st.text("abß🐍", max_size=3), max_size=60), cut=st.integers(0, 60))
def test_interning_in_bulk_agrees_with_one_by_one(hash, texts, cut):
    one_by_one = Dictionary(hash)
    expected = [NULL if text is None else one_by_one.word(text) for text in texts]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        bulk = Dictionary(hash)
        head, tail = pa.array(texts[:cut], kind), pa.array(["zzz", *texts[cut:]], kind)[1:]
        assert [*bulk.intern(head).tolist(), *bulk.intern(tail).tolist()] == expected
        words = np.array(expected, np.int64)
        assert bulk.array(words).to_pylist() == texts
        assert bulk.texts(words) == texts


def test_interning_takes_lists_chunks_and_dictionary_arrays():
    dictionary = Dictionary()
    texts = ["x", None, "y", "x"] * 10
    expected = [NULL if t is None else dictionary.word(t) for t in texts]
    assert dictionary.intern(texts).tolist() == expected
    assert dictionary.intern(pa.array(texts).dictionary_encode()).tolist() == expected
    assert dictionary.intern(pa.chunked_array([texts[:3], texts[3:]])).tolist() == expected
    assert dictionary.intern(pa.chunked_array([], pa.string())).tolist() == []
    assert dictionary.intern([]).tolist() == []


def test_words_are_the_same_on_every_machine():
    assert [Dictionary().word(t) for t in ("", "a", "12345678", "Grüße, world")] == PINNED


PINNED = [-2191626307836511288, 8492635826419204997, -4556061788642218407, 350473251578321143]


def test_growing_keeps_every_entry():
    dictionary = Dictionary()
    texts = [f"text number {i}" for i in range(50_000)]
    early = dictionary.word(texts[7])
    words = dictionary.intern(texts)
    assert words[7] == early
    assert len(np.unique(words)) == len(texts) == len(dictionary)
    assert dictionary.array(words).to_pylist() == texts


def test_unknown_words_are_key_errors():
    dictionary = Dictionary()
    known = dictionary.word("known")
    for ask in (dictionary.text, lambda w: dictionary.array(np.array([known, w]))):
        with pytest.raises(KeyError):
            ask(known + 1)
    with pytest.raises(KeyError):
        dictionary.text(NULL)


def test_lone_surrogates_are_no_text():
    for ask in (Dictionary().word, lambda text: Dictionary().intern([text] * 100)):
        with pytest.raises(InvalidValue, match="surrogate"):
            ask("a\ud800")


@settings(deadline=None)
@given(st.lists(st.tuples(st.none() | st.text(max_size=4), st.none() | st.text(max_size=4)), max_size=40))
def test_texts_compare_by_code_point(pairs):
    dictionary = Dictionary()
    left, right = (dictionary.intern([pair[i] for pair in pairs]) for i in (0, 1))
    expected = [NULL if None in (a, b) else (a > b) - (a < b) for a, b in pairs]
    assert dictionary.compare(left, right).tolist() == expected


@pytest.mark.parametrize("hash", HASHES)
@pytest.mark.parametrize("order", [1, -1])
def test_absorbed_entries_mean_what_they_meant(hash, order):
    first = Dictionary(hash)
    words = first.intern(TEXTS)
    exported = first.entries(np.append(words, [NULL, words[0]]))
    assert exported[0].tolist() == sorted(words.tolist())
    again = Dictionary(hash)
    again.absorb(exported[0][::order], exported[1].to_pylist()[::order])
    assert again.intern(TEXTS).tolist() == words.tolist()
    again.absorb(*exported)
    assert len(again) == len(TEXTS)


def test_a_loser_keeps_its_word_when_the_winner_is_not_absorbed():
    first = Dictionary(constant_hash)
    winner, loser = first.word("winner"), first.word("loser")
    again = Dictionary(constant_hash)
    again.absorb(*first.entries(np.array([loser])))
    assert again.word("loser") == loser
    assert again.word("winner") == winner
    assert again.word("other") not in (winner, loser)


def test_contradictions_are_refused():
    dictionary = Dictionary()
    word = dictionary.word("here")
    with pytest.raises(EngineError, match="'there'"):
        dictionary.absorb(np.array([word]), ["there"])
    with pytest.raises(EngineError, match="'here'"):
        dictionary.absorb(np.array([word + 1]), ["here"])


def test_threads_agree():
    dictionary = Dictionary()
    texts = [f"{i}" for i in range(20_000)]
    answers: list[np.ndarray] = []

    def work(part: list[str]) -> None:
        for start in range(0, len(part), 500):
            words = dictionary.intern(part[start : start + 500])
            assert dictionary.texts(words) == part[start : start + 500]
        answers.append(dictionary.intern(texts))

    threads = [threading.Thread(target=work, args=(texts[i:] + texts[:i],)) for i in (0, 7_000, 13_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 3
    assert all(np.array_equal(answers[0], other) for other in answers)
    assert len(dictionary) == len(texts)


def test_a_trial_borrows_texts_and_leaves_none() -> None:
    """With colliding hashes, a trial gives new texts no word that the base has for other bytes."""

    def hash(offsets: np.ndarray, data: np.ndarray, round: int) -> np.ndarray:
        return np.diff(offsets) * 10 + round

    base = Dictionary(hash)
    known = base.intern(["aa", "bb", "c"])
    trial = TrialDictionary(base, 10_000, lambda: None)
    new = trial.intern(["dd", "bb", "aa", "eee"])
    assert trial.texts(known) == ["aa", "bb", "c"] and trial.texts(new) == ["dd", "bb", "aa", "eee"]
    assert new[1:3].tolist() == [known[1], known[0]] and new[0] not in known
    assert len(base) == 3 and trial.made == 5 + 2 * 40
    assert trial.compare(known[:1], new[:1]).tolist() == [-1]
    with pytest.raises(OverBudget):
        trial.intern(["x" * 20_000])
    assert len(base) == 3
