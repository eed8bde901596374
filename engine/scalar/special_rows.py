"""Rows with a NUMERIC that is NaN or infinite, which DuckDB's decimals lack: answered apart from the others.

DuckDB has these values as floats, and their names as texts. A function that is known to give PostgreSQL's
answer for one of the two is asked for it; every other function fails the row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from engine.codec.numerals import are_special, name_of, number_of, special_of, word_of
from engine.codec.values import encoder
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.scalar import duck_evaluator as duck
from engine.scalar.remembered import Compute
from engine.schema import Type
from engine.state.dictionary import Dictionary

Settle = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, dict[int, str]]]
"""Rows of arguments int64[K, m] → the places int64[k] of those that it answers, their words int64[k], and by
place why a row failed."""
Rewritten = Callable[[np.ndarray, Mapping[int, str]], str | None]
"""An expression over the constants of a row, with other texts for the arguments at some places."""

UNANSWERED = " of a NUMERIC is no argument of this function here"
_ARGUMENT = r"(\{\d\}|-?\d+(\.\d+)?)"
_OF_FLOATS = re.compile(
    rf"(ceil|ceiling|floor|round|trunc|sqrt|ln|log|log10|exp|power|pow)\({_ARGUMENT}(, ?{_ARGUMENT})?\)",
    re.IGNORECASE,
)
_SIGN = re.compile(r"sign\(\{0\}\)", re.IGNORECASE)
_OF_TEXTS = re.compile(r"CAST\(\{0\} AS VARCHAR\)|\{0\} \|\| \{1\}")
_ITSELF = "{0}"


def settled(settle: Settle, compute: Compute, rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
    """As `compute`, which is given only the rows that `settle` does not answer."""
    places, words, reasons = settle(rows)
    if not len(places):
        return compute(rows)
    found = np.full(rows.shape[1], NULL)
    found[places] = words
    others = np.delete(np.arange(rows.shape[1]), places)
    if len(others):
        found[others], failed = compute(np.ascontiguousarray(rows[:, others]))
        reasons = reasons | {int(others[place]): reason for place, reason in failed.items()}
    return found, reasons


def named_rows(dictionary: Dictionary, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
    """The texts int64[1, m] that name NaN or an infinity, as a NUMERIC."""
    found = {
        place: word_of(special, dictionary)
        for place, text in enumerate(dictionary.texts(rows[0]))
        if text is not None and (special := special_of(text)) is not None
    }
    return np.array([*found], np.int64), np.array([*found.values()], np.int64), {}


class SpecialRows:
    """Answers the rows in which an argument is NaN or infinite."""

    def __init__(
        self, template: str, rewritten: Rewritten, types: Sequence[Type], type: Type, dictionary: Dictionary
    ) -> None:
        self._template = template
        self._rewritten = rewritten
        self._columns = [place for place, of in enumerate(types) if of.has_specials]
        self._type = type
        self._encode = encoder(type)
        self._dictionary = dictionary

    def __call__(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
        special = np.zeros(rows.shape, bool)
        special[self._columns] = are_special(rows[self._columns], self._dictionary)
        places = np.flatnonzero(special.any(axis=0))
        words, reasons = np.full(len(places), NULL), dict[int, str]()
        for at, place in enumerate(places.tolist()):
            try:
                words[at] = self._answer(rows[:, place], np.flatnonzero(special[:, place]).tolist())
            except (InvalidValue, duck.DuckRefusal) as error:
                reasons[place] = str(error)
        return places, words, reasons

    def _answer(self, row: np.ndarray, special: list[int]) -> int:
        names = {place: name_of(number_of(int(row[place]), self._dictionary)) for place in special}
        if self._template == _ITSELF:
            return int(row[0])
        is_signed = _SIGN.fullmatch(self._template) and "NaN" not in names.values()
        if is_signed or _OF_FLOATS.fullmatch(self._template):
            written = {place: f"CAST('{name}' AS DOUBLE)" for place, name in names.items()}
        elif _OF_TEXTS.fullmatch(self._template):
            written = {place: f"'{name}'" for place, name in names.items()}
        else:
            raise InvalidValue(f"{next(iter(names.values()))}{UNANSWERED}")
        if (row == NULL).any():
            return int(NULL)
        text = self._rewritten(row, written)
        if text is None:
            raise InvalidValue("its arguments cannot be written")
        (value,) = duck.constants([text])
        if isinstance(value, float) and math.isnan(value) and "NaN" not in names.values():
            raise InvalidValue("its value is no number")
        return self._encode(value, self._dictionary)
