"""Programs that are compiled when rows first arrive: a task renders many programs and runs few of them."""

from __future__ import annotations

import numpy as np

from engine.plan.expressions import Expression
from engine.scalar.program import ScalarProgram
from engine.scalar.row_failures import Failures
from engine.state.dictionary import Dictionary
from engine.state.task_dictionary import TaskDictionary


class LateProgram(ScalarProgram):
    """A scalar program of a task. The texts of its literals came with the specification, so they are not
    new."""

    def __init__(self, expressions: tuple[Expression, ...], dictionary: Dictionary) -> None:
        if not isinstance(dictionary, TaskDictionary):
            raise TypeError("a late program needs a task's dictionary")
        self._expressions = expressions
        self._dictionary = dictionary
        self._is_compiled = False

    registers = None
    """Python runs it: an operator of a task takes its turn on its own."""

    def __call__(self, words: np.ndarray) -> tuple[np.ndarray, Failures | None]:
        self._compile()
        return super().__call__(words)

    def fill(self, words: np.ndarray, results: np.ndarray) -> Failures | None:
        self._compile()
        return super().fill(words, results)

    def _compile(self) -> None:
        if self._is_compiled:
            return
        with self._dictionary.knowing():
            super().__init__(self._expressions, self._dictionary)
        self._is_compiled = True
