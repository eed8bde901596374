"""Unnesting: each row becomes as many rows as its longest list has elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.codec.interned import split_arrays
from engine.codec.numerals import words_of_numbers
from engine.codec.ordered_text import text_word
from engine.kernels.stepping import opcodes
from engine.kernels.words import NULL
from engine.operators.failure_log import FailureLog
from engine.operators.operator import Instruction, Operator, Step
from engine.plan.list_elements import MOST_ELEMENTS, Elements
from engine.plan.list_elements import Unnest as UnnestNode
from engine.schema import Type
from engine.state.dictionary import Dictionary

_REMEMBERED = 1 << 20  # array elements that are remembered as words


@dataclass(frozen=True)
class _Series:
    """Numbers in equal steps: int64[n] starts, steps and counts."""

    starts: np.ndarray
    steps: np.ndarray
    counts: np.ndarray

    def at(self, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        return self.starts[rows] + places * self.steps[rows]


@dataclass(frozen=True)
class _Parts:
    """Parts of `elements`: int64[n] starts and counts."""

    elements: np.ndarray
    starts: np.ndarray
    counts: np.ndarray

    def at(self, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        return self.elements[np.minimum(self.starts[rows] + places, len(self.elements) - 1)]


class UnnestOperator(Operator):
    """The input's rows with the elements of their lists; a row with too long a list becomes an error."""

    def __init__(
        self, source: Operator, columns: tuple[int, ...], node: UnnestNode, dictionary: Dictionary
    ) -> None:
        """`columns` are the positions, among the input's words, of the columns of the node's input, in
        order."""
        super().__init__([source])
        self._columns = list(columns)
        self._node = node
        self._arrays = {
            each.columns: _Arrays(each.type(node.input.schema), dictionary)
            for each in node.lists
            if len(each.columns) == 1
        }
        self.failures = FailureLog(dictionary)

    @property
    def instruction(self) -> Instruction:
        return Instruction(opcodes.PYTHON, (self.inputs[0],))

    def step(self, step: Step) -> None:
        self.out = []
        for delta in self.inputs[0].out:
            result = self._unnested(np.concatenate((delta[self._columns], delta[-2:])), step)
            if result.shape[1]:
                self.out.append(result)

    def _unnested(self, delta: np.ndarray, step: Step) -> np.ndarray:
        """`delta` has the columns of the node's input, in order, then times and diffs."""
        lists = [self._list(each, delta) for each in self._node.lists]
        counts = np.max([each.counts for each in lists], axis=0)
        failed = dict(self._failures(delta, counts))
        if failed:
            places = np.fromiter(failed, np.int64)
            self.failures.add(list(failed.values()), delta[-2:, places], step)
        lengths = np.maximum(counts, 1) if self._node.outer else counts
        lengths[list(failed)] = 0
        rows = np.repeat(np.arange(len(lengths)), lengths)
        places = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        made = [np.where(places < each.counts[rows], each.at(rows, places), NULL) for each in lists]
        if self._node.ordinality:
            made.append(np.where(places < counts[rows], places + 1, NULL))
        return np.ascontiguousarray(np.vstack((delta[:-2, rows], *made, delta[-2:, rows])))

    def _list(self, each: Elements, delta: np.ndarray) -> _Series | _Parts:
        if each.columns in self._arrays:
            return self._arrays[each.columns].of(delta[each.columns[0]])
        start, stop, step = delta[list(each.columns)]
        return _Series(start, step, _lengths(start, stop, step, each.exclusive))

    def _failures(self, delta: np.ndarray, counts: np.ndarray) -> Iterator[tuple[int, str]]:
        """The rows that cannot be unnested, and why."""
        for row in np.flatnonzero(counts > MOST_ELEMENTS).tolist():
            yield row, f"a list has more than {MOST_ELEMENTS} elements"
        for each in self._node.lists:
            if len(each.columns) == 3:
                no_step = (delta[list(each.columns)] != NULL).all(axis=0) & (delta[each.columns[2]] == 0)
                for row in np.flatnonzero(no_step).tolist():
                    yield row, "the step of a series is zero"


def _lengths(start: np.ndarray, stop: np.ndarray, step: np.ndarray, exclusive: bool) -> np.ndarray:
    """The number of elements of each series, capped just above MOST_ELEMENTS; zero for a step of zero."""
    up = step > 0
    known = (start != NULL) & (stop != NULL) & (step != NULL) & (step != 0)
    known &= np.where(up, start <= stop, start >= stop)
    low, high = np.where(up, start, stop).view(np.uint64), np.where(up, stop, start).view(np.uint64)
    stride = np.where(known, np.abs(step), 1).view(np.uint64)
    steps, rest = np.divmod(high - low, stride)
    steps = np.minimum(steps, MOST_ELEMENTS + 1).astype(np.int64)
    met = (rest == 0) if exclusive else np.zeros(len(step), bool)
    return np.where(known, steps + 1 - met, 0)


class _Arrays:
    """The elements of arrays as words, remembered by the array's word."""

    def __init__(self, element: Type, dictionary: Dictionary) -> None:
        self._element = element
        self._dictionary = dictionary
        self._forget()

    def _forget(self) -> None:
        self._version = self._dictionary.version
        self._known: dict[int, int] = {NULL: 0}
        self._starts = [0]
        self._counts = [0]
        self._elements = np.full(1, NULL)

    def of(self, words: np.ndarray) -> _Parts:
        if len(self._elements) > _REMEMBERED or self._version != self._dictionary.version:
            self._forget()
        distinct, inverse = np.unique(words, return_inverse=True)
        self._learn([word for word in distinct.tolist() if word not in self._known])
        numbers = np.array([self._known[word] for word in distinct.tolist()], np.int64)[inverse]
        starts, counts = np.array(self._starts, np.int64), np.array(self._counts, np.int64)
        return _Parts(self._elements, starts[numbers], counts[numbers])

    def _learn(self, words: list[int]) -> None:
        lengths, texts = split_arrays(self._dictionary.texts(np.array(words, np.int64)))
        start = len(self._elements)
        for word, length in zip(words, lengths, strict=True):
            self._known[word] = len(self._starts)
            self._starts.append(start)
            self._counts.append(length or 0)
            start += length or 0
        self._elements = np.concatenate((self._elements, self._words(texts)))

    def _words(self, texts: list[str | None]) -> np.ndarray:
        if self._element.is_interned:
            return self._dictionary.intern(texts)
        numbers = [None if text is None else text_word(text) for text in texts]
        if self._element.may_be_wide:
            return words_of_numbers(numbers, self._dictionary)
        return np.array([NULL if number is None else number for number in numbers], np.int64)
