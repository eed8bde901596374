"""Collecting texts: what nothing refers to goes, and what anybody holds keeps its meaning."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.codec.python import decode_row, encode_row
from engine.kernels.words import NULL
from engine.plan.nodes import Source
from engine.runtime.engine import Engine, Snapshot
from engine.runtime.spill import Capture, SavedState, Spill
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state import dictionary as module
from engine.state.dictionary import Dictionary
from engine.state.store.directory import StateDirectory
from engine.state.store.manifest import Manifest
from planner import Relation, plan_query
from tests.engine.test_dictionary import HASHES, constant_hash
from tests.seeds import SEED, each_seed, few


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every collection pays."""
    monkeypatch.setattr(module, "WORTH", -(1 << 40))
    monkeypatch.setattr(module, "ROWS_A_TEXT", 1 << 62)


def collected(dictionary: Dictionary, live: np.ndarray) -> np.ndarray | None:
    """Collect all but the `live` words; returns the new numbers."""
    dictionary._after_collection = -1
    collection = dictionary.collection(0)
    assert collection is not None
    collection.mark(live[:, np.newaxis])
    collection.copy()
    return dictionary.switch(collection)


def test_texts_that_nothing_refers_to_go_and_the_others_stay():
    dictionary = Dictionary()
    words = dictionary.intern([f"text {number}" for number in range(2000)])
    texts, size = dictionary.texts(words), dictionary.bytes
    numbers = collected(dictionary, words[::200])
    assert numbers is not None
    assert numbers[::200].tolist() == list(range(10))
    assert len(dictionary) == 10
    assert dictionary.bytes < size
    assert dictionary.texts(words[::200]) == texts[::200]
    for word in words[1:3].tolist():
        with pytest.raises(KeyError):
            dictionary.text(word)
    assert dictionary.word("text 1") == words[1]


def test_a_text_that_is_asked_for_meanwhile_stays():
    dictionary = Dictionary()
    old = dictionary.intern(["interned", "required", "gone"])
    dictionary._after_collection = -1
    collection = dictionary.collection(0)
    assert dictionary.word("interned") == old[0]
    dictionary.require(old[1:2])
    new = dictionary.word("new")
    collection.copy()
    assert dictionary.switch(collection) is not None
    assert dictionary.texts(np.array([*old[:2], new])) == ["interned", "required", "new"]
    del collection
    with pytest.raises(KeyError):
        dictionary.text(int(old[2]))


def test_a_text_whose_word_is_no_hash_gets_it_back():
    """Although the text that had its hash has gone for good, so that the hash is free again."""
    dictionary = Dictionary(constant_hash)
    first = dictionary.hold()
    dictionary.word("has the hash")
    word = dictionary.word("has another")
    collected(dictionary, np.array([word]))
    second = dictionary.hold()
    del first
    collected(dictionary, np.empty(0, np.int64))
    assert dictionary.intern(["has another"]).tolist() == [word]
    assert dictionary.text(word) == "has another"
    del second


def test_a_collection_that_was_given_up_changes_nothing():
    dictionary = Dictionary()
    words = dictionary.intern(["a", "b"])
    dictionary._after_collection = -1
    collection = dictionary.collection(0)
    collection.copy()
    dictionary.abandon(collection)
    assert dictionary.switch(collection) is None
    assert dictionary.texts(words) == ["a", "b"]


def test_there_is_no_collection_under_a_lease():
    dictionary = Dictionary()
    words = dictionary.intern(["a", "b"])
    dictionary._after_collection = -1
    lease = dictionary.lease()
    assert dictionary.collection(0) is None
    del lease
    collection = dictionary.collection(0)
    collection.copy()
    lease = dictionary.lease()
    assert dictionary.switch(collection) is None
    assert dictionary.texts(words) == ["a", "b"]
    del lease


def test_constants_stay_as_long_as_their_program():
    dictionary = Dictionary()
    with dictionary.compiling() as constants:
        word = dictionary.word("constant")
    dictionary.word("other")
    collected(dictionary, np.empty(0, np.int64))
    assert len(dictionary) == 1
    assert dictionary.text(word) == "constant"
    del constants
    collected(dictionary, np.empty(0, np.int64))
    assert len(dictionary) == 0


@pytest.mark.parametrize("hash", HASHES)
@each_seed(few(40))
def test_a_word_keeps_its_meaning_as_long_as_somebody_holds_it(hash, seed: int):
    """Holders come and go, among collections that start and end at any time; texts collide."""
    rng = random.Random(seed)
    dictionary = Dictionary(hash)
    holders: list[tuple[object, dict[int, str]]] = []
    live: dict[int, str] = {}
    collection = None
    for _ in range(60):
        what = rng.randrange(8)
        texts = [rng.choice("abcdefgh") * rng.randint(0, 2) for _ in range(rng.randint(1, 20))]
        if what <= 2:
            held = dictionary.hold()
            words = dictionary.intern(texts if what else pa.array(texts)).tolist()
            holders.append((held, dict(zip(words, texts, strict=True))))
        elif what == 3 and holders:
            holders.pop(rng.randrange(len(holders)))
        elif what == 4 and holders:
            _, known = rng.choice(holders)
            dictionary.require(np.array(list(known), np.int64))
            live |= known
        elif what == 5 and collection is None:
            live = {word: text for word, text in live.items() if rng.random() < 0.7}
            dictionary._after_collection = -1
            collection = dictionary.collection(0)
            collection.mark(np.array([*live, NULL, 5], np.int64)[:, np.newaxis])
            collection.copy()
        elif what == 6 and collection is not None:
            before = dictionary.entry_words(np.arange(len(dictionary)))
            numbers = dictionary.switch(collection)
            assert dictionary.entry_words(numbers[numbers >= 0]).tolist() == before[numbers >= 0].tolist()
            collection = None
        elif what == 7 and holders:
            _, known = rng.choice(holders)
            assert dictionary.texts(np.array(list(known), np.int64)) == list(known.values()), (SEED, seed)
        for known in (live, *(known for _, known in holders)):
            for word, text in known.items():
                assert live.get(word, text) == text
    for known in (live, *(known for _, known in holders)):
        words = np.array([word for word in known if word != NULL], np.int64)
        assert dictionary.texts(words) == [known[word] for word in words.tolist()], (SEED, seed)
        assert dictionary.intern(list(known.values())).tolist() == list(known), (SEED, seed)


def test_threads_intern_and_read_while_texts_are_collected():
    """Each thread holds what it works with; its words must mean the same at the end of a turn as at the
    beginning."""
    dictionary = Dictionary()
    live = dictionary.intern([f"live {number}" for number in range(100)])
    errors: list[BaseException] = []
    stop = threading.Event()

    def work(seed: int) -> None:
        rng = random.Random(seed)
        try:
            while not stop.is_set():
                held = dictionary.hold()
                texts = [f"text {rng.randrange(300)}" for _ in range(rng.choice((1, 5, 40)))]
                words = dictionary.intern(texts)
                for _ in range(rng.randrange(5)):
                    time.sleep(0.0005)
                    assert dictionary.texts(words) == texts
                    assert dictionary.intern(texts).tolist() == words.tolist()
                dictionary.require(words)
                assert dictionary.array(words).to_pylist() == texts
                assert not dictionary.compare(words, words.copy()).any()
                del held
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(SEED + number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    switched = 0
    end = time.monotonic() + 2
    while time.monotonic() < end and not errors:
        switched += collected(dictionary, live) is not None
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert switched > 10
    assert collected(dictionary, live) is not None
    assert len(dictionary) == 100
    assert dictionary.texts(live) == [f"live {number}" for number in range(100)]


ROWS = Schema((Column("id", BIGINT, False), Column("g", BIGINT), Column("s", TEXT)))
VIEWS = {
    "top": "SELECT id, s FROM t ORDER BY s, id LIMIT 5",
    "least": "SELECT g, min(s) AS low, max(s) AS high FROM t GROUP BY g",
    "ranked": "SELECT id, row_number() OVER (PARTITION BY g ORDER BY s, id) AS place, lag(s) OVER "
    "(PARTITION BY g ORDER BY s, id) AS before FROM t",
    "made": "SELECT g, upper(s) || ' of ' || g AS made FROM t WHERE s <> 'text 1'",
    "casts": "SELECT id, CAST(s AS BIGINT) AS number FROM t WHERE g = 1",
    "joined": "SELECT a.id, b.s FROM t AS a JOIN t AS b ON upper(a.s) = upper(b.s) AND a.id < b.id",
}


CATALOG = {"t": Relation("t", ROWS, Source("t", ROWS), (0,))}
PLANS = {name: plan_query(sql, CATALOG).plan for name, sql in VIEWS.items()}
Line = tuple[int, int, str]


class Twin:
    """A table and the views over it; `rows` are the table's newest rows by their key."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.engine.create_source("t", ROWS, (0,))
        for name, plan in PLANS.items():
            self.engine.create_view(name, plan)

    def resume(self, manifest: Manifest, directory: StateDirectory) -> None:
        self.engine = Engine()
        state = SavedState(manifest, directory)
        self.engine.resume(state)
        self.engine.create_source("t", ROWS, (0,), state=state)
        for name, plan in PLANS.items():
            assert self.engine.restore_view(name, plan, state)

    def encoded(self, lines: list[Line]) -> np.ndarray:
        words = [encode_row(line, ROWS, self.engine.dictionary) for line in lines]
        return np.array(words, np.int64).reshape(-1, 3).T

    def apply(self, gone: np.ndarray, come: np.ndarray) -> None:
        epoch = self.engine.snapshot.upper
        rows = np.concatenate((gone, come), axis=1)
        diffs = np.repeat([-1, 1], [gone.shape[1], come.shape[1]])
        delta = np.vstack((rows, np.full(rows.shape[1], epoch), diffs))
        self.engine.stage({"t": delta}, epoch + 1).publish()

    def forget(self, epoch: int) -> None:
        for name in ("t", *PLANS):
            self.engine.forget(name, epoch, at_once=False)

    def shown(self, name: str, epoch: int) -> tuple[Counter, list]:
        return shown(self.engine.snapshot, self.engine.dictionary, name, epoch)


def decoded(words: np.ndarray, schema: Schema, dictionary: Dictionary) -> list[tuple]:
    return [decode_row(row, schema, dictionary) for row in words.T.tolist()]


def shown(snapshot: Snapshot, dictionary: Dictionary, name: str, epoch: int) -> tuple[Counter, list]:
    """The rows of a relation as values, and its errors."""
    words, counts = snapshot.rows(name, epoch)
    rows = decoded(words, snapshot.schema(name), dictionary)
    return Counter(dict(zip(rows, counts.tolist(), strict=True))), snapshot.errors(name, epoch)


@each_seed(few(6))
def test_an_engine_that_collects_answers_as_one_that_does_not(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    directory = StateDirectory(tmp_path / "state")
    plain, lean = Twin(), Twin()
    rows: dict[int, Line] = {}
    spills: list = []
    old: list[tuple[Snapshot, int, dict]] = []
    came = 0
    for step in range(80):
        keys = rng.sample(range(12), rng.randint(1, 4))
        lines = [
            (key, rng.randrange(3), f"{'text ' if rng.random() < 0.9 else ''}{rng.randrange(10**6)}")
            for key in keys
        ]
        came += len(lines)
        held = lean.engine.dictionary.hold()
        both = [
            (twin, twin.encoded([rows[k] for k in keys if k in rows]), twin.encoded(lines))
            for twin in (plain, lean)
        ]
        rows |= {line[0]: line for line in lines}
        what = rng.randrange(8)
        if rng.random() < 0.7:
            lean.engine.dictionary._after_collection = -1
        if what == 0 and not spills:
            spills.append(lean.engine.capture(collect=True))
        elif what == 1 and spills and isinstance(spills[0], Capture):
            spills[0] = spills[0].write(directory, rng.choice((1, 3)))
        elif what == 2 and spills and isinstance(spills[0], Spill):
            lean.engine.install(spills.pop())
        elif what == 3 and spills and isinstance(spills[0], Capture) and rng.random() < 0.3:
            lean.engine.release(spills.pop())
        elif what == 4:
            upper = plain.engine.snapshot.upper
            for twin in (plain, lean):
                twin.forget(max(0, upper - rng.randint(1, 6)))
        elif what == 5:
            snapshot = lean.engine.snapshot
            epoch = snapshot.upper - 1
            if epoch:
                old.append((snapshot, epoch, {name: plain.shown(name, epoch) for name in ("t", *PLANS)}))
        elif what == 6 and not spills and rng.random() < 0.3:
            capture = lean.engine.capture(collect=True)
            spill = capture.write(directory, 2)
            lean.engine.install(spill)
            del capture
            old.clear()
            if rng.random() < 0.5:
                lean.resume(spill.manifest, directory)
                gone = decoded(both[0][1], ROWS, plain.engine.dictionary)
                both[1] = (lean, lean.encoded(gone), lean.encoded(lines))
        for twin, gone, come in both:
            twin.apply(gone, come)
        del held
        epoch = plain.engine.snapshot.upper - 1
        for name in ("t", *PLANS):
            assert lean.shown(name, epoch) == plain.shown(name, epoch), (seed, step, name)
        while len(old) > 2:
            snapshot, epoch, expected = old.pop(rng.randrange(len(old)))
            for name, answer in expected.items():
                assert shown(snapshot, lean.engine.dictionary, name, epoch) == answer, (seed, step, name)
    for twin in (plain, lean):
        twin.forget(twin.engine.snapshot.upper - 1)
    spills.clear()
    old.clear()
    for _ in range(2):
        lean.engine.dictionary._after_collection = -1
        spill = lean.engine.capture(collect=True).write(directory, 1)
        lean.engine.install(spill)
        del spill
    assert len(plain.engine.dictionary) > came
    assert len(lean.engine.dictionary) < came
