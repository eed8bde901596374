"""The dictionary of a task: what is new to it, and what it reads of what others have met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary
from engine.state.store.directory import StateDirectory
from engine.state.store.files import TextFile
from engine.state.task_dictionary import KnownTexts, TaskDictionary


class Counted(StateDirectory):
    """Counts the text files that were read."""

    read = 0

    def read_texts(self, file: TextFile):  # type: ignore[no-untyped-def]
        self.read += 1
        return super().read_texts(file)


@pytest.fixture
def directory(tmp_path: Path) -> Counted:
    return Counted(tmp_path)


@pytest.fixture
def service() -> Dictionary:
    """Who has met all texts but new ones."""
    return Dictionary()


def written(directory: Counted, service: Dictionary, texts: Sequence[str]) -> TextFile:
    return directory.write_texts(*service.entries(service.intern(texts)))


def task(
    directory: Counted,
    files: Iterable[TextFile] = (),
    exceptions: Iterable[tuple[str, int]] = (),
    known: KnownTexts | None = None,
) -> TaskDictionary:
    return TaskDictionary(known or KnownTexts(), directory, files, exceptions)


def new(dictionary: TaskDictionary) -> dict[int, str]:
    found = dictionary.new()
    return {} if found is None else dict(zip(found[0].tolist(), found[1].to_pylist(), strict=True))


def test_texts_that_a_task_meets_are_new_once(directory: Counted, service: Dictionary) -> None:
    dictionary = task(directory)
    assert dictionary.new() is None
    words = dictionary.intern(["a", "b", None, "a"])
    assert words.tolist() == service.intern(["a", "b", None, "a"]).tolist()
    assert new(dictionary) == {int(words[0]): "a", int(words[1]): "b"}
    assert dictionary.word("b") == words[1]
    assert len(new(dictionary)) == 2


def test_the_specification_has_nothing_new(directory: Counted) -> None:
    dictionary = task(directory)
    with dictionary.knowing():
        dictionary.word("a literal")
    fresh = dictionary.word("fresh")
    with dictionary.knowing():
        dictionary.word("a literal")
        dictionary.word("another")
    assert new(dictionary) == {fresh: "fresh"}


def test_texts_of_files_are_read_when_they_are_needed(directory: Counted, service: Dictionary) -> None:
    """All of them once in a process, for all of its tasks."""
    known = KnownTexts()
    files = [written(directory, service, ["a", "b"]), written(directory, service, ["c"])]
    words = service.intern(["a", "c", None])
    first = task(directory, files, known=known)
    first.require(np.array([NULL]))
    assert first.intern(["a", "c"]).tolist() == words[:2].tolist()
    assert first.texts(words) == ["a", "c", None]
    assert directory.read == 0, "it has made them itself"
    for _ in range(2):
        other = task(directory, files, known=known)
        assert other.array(words).to_pylist() == ["a", "c", None]
        assert other.new() is None
        assert directory.read == len(files)
    third = written(directory, service, ["d"])
    assert task(directory, [*files, third], known=known).text(service.word("d")) == "d"
    assert directory.read == len(files) + 1


def test_every_use_of_a_word_finds_its_text(directory: Counted, service: Dictionary) -> None:
    texts = [f"text {number:02}" for number in range(40)]
    files = [written(directory, service, texts)]
    words = service.intern(texts)
    assert task(directory, files).texts(words) == texts
    assert task(directory, files).text(int(words[3])) == texts[3]
    assert task(directory, files).compare(words[:-1], words[1:]).tolist() == [-1] * 39
    matched = np.empty(40, np.int64)
    task(directory, files).match(words, [b"text ", b"7"], False, matched)
    assert np.flatnonzero(matched).tolist() == [7, 17, 27, 37]
    dictionary = task(directory, files)
    assert dictionary.entry_words(dictionary.entry_numbers(words)).tolist() == words.tolist()


def test_a_word_that_no_file_has_is_an_error(directory: Counted, service: Dictionary) -> None:
    files = [written(directory, service, ["a"])]
    with pytest.raises(KeyError):
        task(directory, files).array(np.array([service.word("nobody has written it")]))


def test_what_a_task_reads_is_not_new_beside_what_is(directory: Counted, service: Dictionary) -> None:
    files = [written(directory, service, ["old"])]
    dictionary = task(directory, files)
    fresh = dictionary.word("fresh")
    assert dictionary.text(service.word("old")) == "old"
    assert new(dictionary) == {fresh: "fresh"}


def one_hash(offsets: np.ndarray, data: np.ndarray, round: int) -> np.ndarray:
    """All texts collide in round 0."""
    from_length = offsets[1:] - offsets[:-1]
    return np.full(len(from_length), 5, np.int64) if round == 0 else 100 * round + from_length


def test_exceptions_have_their_words_and_are_not_new(
    directory: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two texts with one hash, the first in the service has it, whichever a task meets first."""
    monkeypatch.setattr(Dictionary.__init__, "__defaults__", (one_hash,))
    service = Dictionary()
    a, bb = service.word("a"), service.word("bb")
    assert (a, bb) == (5, 102)
    files = [directory.write_texts(*service.entries(np.array([a, bb])))]
    dictionary = task(directory, files, service.exceptions)
    assert dictionary.word("bb") == bb
    assert dictionary.new() is None
    assert dictionary.array(np.array([a, bb])).to_pylist() == ["a", "bb"]
    assert dictionary.new() is None


def test_a_task_that_is_alone_takes_all_texts_when_it_needs_one(
    directory: Counted, service: Dictionary
) -> None:
    files = [written(directory, service, ["a", "b"]), written(directory, service, ["b", "c"])]
    words = service.intern(["a", "b", "c"])
    dictionary = TaskDictionary(None, directory, files, ())
    fresh = dictionary.word("fresh")
    assert dictionary.word("b") == words[1]
    assert directory.read == 0
    assert dictionary.entry_numbers(words).size == 3
    assert directory.read == len(files)
    assert dictionary.texts(words) == ["a", "b", "c"]
    assert new(dictionary) == {fresh: "fresh"}
    with pytest.raises(KeyError):
        dictionary.require(np.array([service.word("nobody has written it")]))
    assert directory.read == len(files)


def test_threads_that_need_texts_at_once_read_them_once(directory: Counted, service: Dictionary) -> None:
    texts = [f"text {number:05}" for number in range(20_000)]
    files = [written(directory, service, texts)]
    words = service.intern(texts)
    dictionary = TaskDictionary(None, directory, files, ())
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda part: dictionary.array(part).to_pylist(), np.split(words, 16)))
    assert [text for part in found for text in part] == texts
    assert directory.read == 1
    assert dictionary.new() is None
