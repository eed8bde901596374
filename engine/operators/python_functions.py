"""Operators that call Python functions, row by row or group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from engine.codec.python import decode_row, encode_row
from engine.operators.failure_log import FailureLog
from engine.operators.groupwise import Answer, Reducer
from engine.operators.linear import consolidated
from engine.operators.operator import Operator, Step
from engine.plan.nodes import FlatMap as FlatMapNode
from engine.plan.nodes import GroupBy
from engine.plan.nodes import Inspect as InspectNode
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from engine.state.packed_times import Order


class FlatMapOperator(Operator):
    """Each row becomes the rows that a function returns; a row for which it raises becomes an error."""

    def __init__(
        self, source: Operator, columns: tuple[int, ...], node: FlatMapNode, dictionary: Dictionary
    ) -> None:
        """`columns` are the positions, among the input's words, of the columns of the node's input, in
        order."""
        super().__init__([source])
        self._columns = list(columns)
        self._node = node
        self._dictionary = dictionary
        self.failures = FailureLog(dictionary)

    def step(self, step: Step) -> None:
        self.out = []
        for delta in self.inputs[0].out:
            result = self._apply(delta, step)
            if result.shape[1]:
                self.out.append(result)

    def _apply(self, delta: np.ndarray, step: Step) -> np.ndarray:
        lines: list[tuple[int, ...]] = []
        failed: list[tuple[str, int, int]] = []
        answers: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        rows = map(tuple, delta[self._columns].T.tolist())
        for row, time, diff in zip(rows, delta[-2].tolist(), delta[-1].tolist(), strict=True):
            try:
                if row not in answers:
                    answers[row] = self._call(row)
                lines += [(*words, time, diff) for words in answers[row]]
            except Exception as error:
                failed.append((f"{_name(self._node.function)}: {error}", time, diff))
        if failed:
            messages, times, diffs = zip(*failed, strict=True)
            self.failures.add(messages, np.array([times, diffs], np.int64), step)
        width = len(self._node.schema) + 2
        return np.ascontiguousarray(np.array(lines, np.int64).reshape(-1, width).T)

    def _call(self, row: tuple[int, ...]) -> list[tuple[int, ...]]:
        node = self._node
        values = decode_row(row, node.input.schema, self._dictionary)
        return [encode_row(result, node.schema, self._dictionary) for result in node.function(*values)]


class InspectOperator(Operator):
    """The input unchanged; a function is called with its changes."""

    def __init__(self, source: Operator, node: InspectNode, times: Order, dictionary: Dictionary) -> None:
        """The input's words are the node's columns in order."""
        super().__init__([source])
        self._node = node
        self._times = times
        self._dictionary = dictionary

    def step(self, step: Step) -> None:
        delta = self.inputs[0].delta()
        self.out = [] if delta is None else [consolidated(delta)]
        for shown in self.out:
            for *words, word, diff in shown.T.tolist():
                time = self._times.unpack(word)
                row = decode_row(words, self._node.schema, self._dictionary)
                self._node.function(row, (time, *step.rounds) if step.rounds else time, diff)


def reducer(node: GroupBy, dictionary: Dictionary) -> Reducer:
    """A reducer over words that calls the node's function over values."""
    columns = node.input.schema.columns
    keys = Schema(tuple(columns[k] for k in node.keys))
    others = Schema(tuple(column for c, column in enumerate(columns) if c not in node.keys))

    def reduce(key: tuple[int, ...], rows: Answer) -> Iterable[tuple[tuple[int, ...], int]]:
        group = [(decode_row(words, others, dictionary), count) for words, count in rows.items()]
        group.sort(key=_sort_key)
        for values, count in node.function(decode_row(key, keys, dictionary), group):
            yield encode_row(values, node.results, dictionary), count

    return reduce


def _sort_key(line: tuple[tuple[object, ...], int]) -> tuple[tuple[bool, object], ...]:
    """Orders rows by their values, None last."""
    return tuple((value is None, 0 if value is None else value) for value in line[0])


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)
