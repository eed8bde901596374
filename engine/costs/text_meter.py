"""Which operator of a trial makes new texts: a meter in front of the spending of all trials."""

from __future__ import annotations

from engine.operators.allowance import Spending
from engine.operators.operator import Operator
from engine.state.trial_dictionary import TrialDictionary


class TextMeter:
    """Counts the bytes of new texts by the operator of the outermost scope that has made them."""

    def __init__(self, spending: Spending, dictionary: TrialDictionary) -> None:
        self.sees_steps = spending.sees_steps
        self._spending = spending
        self._dictionary = dictionary
        self._texts: dict[Operator, int] = {}
        self._operator: Operator | None = None
        self._before = dictionary.made

    def texts_of(self, operator: Operator) -> int:
        """The bytes of the texts that the operator has made."""
        self._note()
        return self._texts.get(operator, 0)

    def begin(self, operator: Operator) -> None:
        self._note()
        self._operator = operator
        self._spending.begin(operator)

    def made(self, operator: Operator) -> None:
        self._spending.made(operator)

    def round(self, rounds: tuple[int, ...]) -> None:
        self._spending.round(rounds)

    def ran(self, rounds: int, rows: int, bytes: int) -> None:
        self._spending.ran(rounds, rows, bytes)

    def _note(self) -> None:
        made, operator = self._dictionary.made, self._operator
        if operator is not None:
            self._texts[operator] = self._texts.get(operator, 0) + made - self._before
        self._before = made
