"""Expressions that DuckDB evaluates, once for each distinct row of arguments.

A few rows go as constants in the text of a query, more as an Arrow table. If a query fails, TRY finds the
rows that fail; DuckDB then evaluates each of them alone, so that a row's error message does not depend on the
other rows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from math import inf
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.arrow import decode_column, encode_column
from engine.codec.decimals import decimal_words
from engine.codec.values import encoder
from engine.errors import InvalidValue, PlanError
from engine.kernels.words import NULL
from engine.plan.list_elements import MOST_ELEMENTS
from engine.scalar import duck_evaluator as duck
from engine.scalar.duck_literals import as_typed, carried, literal, sql_text
from engine.scalar.evaluator import Evaluator
from engine.scalar.remembered import Memo
from engine.scalar.row_failures import Failure, Report
from engine.scalar.special_rows import UNANSWERED, Settle, SpecialRows, settled
from engine.scalar.value_sizes import LARGEST, SHORT, is_too_large, shortened, too_large
from engine.schema import NESTED, Column, Kind, Type
from engine.state.dictionary import Dictionary

_FEW = 8  # up to this many rows, constants in the text are faster than a table
_GROWTH, _SHORTLY, _LONG = 8, 0.01, 0.1
"""By how much more rows go at a time if the seconds of the last ones were few, and what is too long."""
_PLACE = re.compile(r"\{(\d+)\}")
_BY_ARROW = NESTED | {Kind.INTERVAL, Kind.JSON}  # kinds whose Python values differ from DuckDB's
# Arrow counts nanoseconds; longer intervals from DuckDB would wrap around.
_BOUNDED = (
    "list_transform([INTERVAL], lambda span: CASE WHEN abs(date_part('hour', span)) >= 2562047 "
    "THEN error('interval is out of range') ELSE span END)[1]"
)
_SATURATED = {date.min, date.max, datetime.min, datetime.max}  # what Python has for infinities

_OWN_FAILURE = "error('"
"""The call by which a template fails with a message of its own."""
Explain = Callable[[np.ndarray, str], str]
"""The words of a failed row's arguments, and DuckDB's reason → the message."""


class DuckExpression:
    """A DuckDB expression, with constant arguments written into its text.

    `columns` are the other arguments; it is computed from the words of their values.
    """

    def __init__(self, template: str, args: Sequence[Evaluator], type: Type, dictionary: Dictionary) -> None:
        self.columns: list[Evaluator] = []
        self._type = type
        self._dictionary = dictionary
        self._encode = encoder(type)
        # Text and places alternate; a place has the text of a constant, or the number of a column.
        self._pieces = _PLACE.split(template)
        self._places: list[str | int] = []
        self._shown: list[str | int] = []
        for place in self._pieces[1::2]:
            self._bind(args[int(place)])
        names = [as_typed(f"{duck.ARGUMENTS}.a{i}", c.type) for i, c in enumerate(self.columns)]
        self._over_columns = self._cast(self._fill(self._places, names))
        nothing = np.empty((len(self.columns), 0), np.int64)
        schema = self._table(nothing).schema if self.columns else pa.schema([])
        try:
            duck.check(self._over_columns, schema)
        except duck.DuckRefusal as refusal:
            raise PlanError(f"DuckDB refuses {template}: {refusal}") from None

    def _bind(self, arg: Evaluator) -> None:
        text = None
        if arg.constant is not None:
            text = literal(arg.constant, arg.type, self._dictionary)
        if text is None or len(text) > SHORT:
            self._places.append(len(self.columns))
            self._shown.append(len(self.columns))
            self.columns.append(arg)
        else:
            self._places.append(text)
            self._shown.append(sql_text(arg.constant, arg.type, self._dictionary))  # type: ignore[arg-type]

    def _cast(self, text: str) -> str:
        cast = carried(text, self._type)
        return _BOUNDED.replace("INTERVAL", cast) if self._type.kind is Kind.INTERVAL else cast

    def _fill(self, places: Sequence[str | int], values: Sequence[str]) -> str:
        texts = [values[place] if isinstance(place, int) else place for place in places]
        return "".join(itertools.chain(*zip(self._pieces[::2], [*texts, ""], strict=True)))

    def show(self, row: np.ndarray) -> str:
        """The expression with the values of a row int64[K]."""
        shown = [shortened(sql_text(w, t, self._dictionary)) for w, t in self._typed(row)]
        return self._fill(self._shown, shown)

    def _typed(self, row: np.ndarray) -> Iterable[tuple[int, Type]]:
        return zip(row.tolist(), (column.type for column in self.columns), strict=True)

    def compute(self, rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        """The results int64[m] for rows int64[K, m]; NULL for rows that fail, with their reasons by
        position."""
        if rows.shape[1] > _FEW and self._dictionary.most_bytes < inf:
            return self._in_stretches(rows)
        return self._at_once(rows)

    def _in_stretches(self, rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        """The results of a few rows first, and then of more at a time as long as that is fast."""
        words, reasons = np.empty(rows.shape[1], np.int64), dict[int, str]()
        start, size = 0, _FEW
        while start < len(words):
            began = perf_counter()
            found, failed = self._at_once(np.ascontiguousarray(rows[:, start : start + size]))
            words[start : start + size] = found
            reasons |= {start + place: reason for place, reason in failed.items()}
            start += size
            seconds = perf_counter() - began
            size = size * _GROWTH if seconds < _SHORTLY else max(size // 2, 1) if seconds > _LONG else size
        return words, reasons

    def _at_once(self, rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        count = rows.shape[1]
        words = self._together(rows) if count <= _FEW else None
        if words is not None:
            return words, {}
        if count > _FEW:
            return self._over_table(rows)
        return self._apart(rows, np.full(count, NULL), range(count))

    def _together(self, rows: np.ndarray) -> np.ndarray | None:
        """The results of a few rows, by one query of constants; None if rows must be evaluated separately."""
        texts = [self._constant(row) for row in rows.T]
        try:
            if None in texts:
                return None
            if self._type.kind in _BY_ARROW:
                words, wrong = self._words(duck.array(texts))  # type: ignore[arg-type]
                return None if wrong.any() else words
            values = duck.constants(texts)  # type: ignore[arg-type]
            if not all(self._is_exact(value) and not is_too_large(value) for value in values):
                return None
            return np.array([self._encode(value, self._dictionary) for value in values], np.int64)
        except (duck.DuckRefusal, InvalidValue):
            return None

    def _constant(self, row: np.ndarray) -> str | None:
        """The expression over constants; None if SQL text cannot express one of them."""
        values = [literal(word, type, self._dictionary) for word, type in self._typed(row)]
        if any(value is None or len(value) > SHORT for value in values):
            return None
        return self._cast(self._fill(self._places, values))  # type: ignore[arg-type]

    def with_arguments(self, row: np.ndarray, instead: Mapping[int, str]) -> str | None:
        """The expression over the constants of a row int64[K], with other texts for some of them; None if SQL
        text cannot express one."""
        values = [
            instead[place] if place in instead else literal(word, type, self._dictionary)
            for place, (word, type) in enumerate(self._typed(row))
        ]
        return None if None in values else self._fill(self._places, values)  # type: ignore[arg-type]

    def _is_exact(self, value: object) -> bool:
        """Whether the Python value is exactly DuckDB's value."""
        if self._type.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
            return not isinstance(value, str) and value not in _SATURATED
        return True

    def _apart(
        self, rows: np.ndarray, words: np.ndarray, places: Iterable[int]
    ) -> tuple[np.ndarray, dict[int, str]]:
        """Set the words at some places to the results of their rows, evaluated one by one."""
        reasons: dict[int, str] = {}
        for place in places:
            try:
                words[place] = self._alone(rows[:, place : place + 1])
            except (duck.DuckRefusal, InvalidValue) as error:
                words[place] = NULL
                reasons[place] = str(error)
        return words, reasons

    def _alone(self, row: np.ndarray) -> int:
        text = self._constant(row[:, 0])
        if text is not None and self._type.kind not in _BY_ARROW:
            (value,) = duck.constants([text])
            if is_too_large(value):
                raise _too_large()
            if self._is_exact(value):
                return self._encode(value, self._dictionary)
        results = duck.column(self._over_columns, self._table(row))
        if too_large(results) is not None:
            raise _too_large()
        words, wrong = self._words(results)
        if wrong.any():
            raise InvalidValue(f"its value is out of range for {self._type}")
        return int(words[0])

    def _over_table(self, rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        try:
            table = self._table(rows)
        except InvalidValue:  # a number that Arrow lacks, inside of another value
            return self._apart(rows, np.full(rows.shape[1], NULL), range(rows.shape[1]))
        try:
            words, wrong = self._words(duck.column(self._over_columns, table))
        except duck.DuckRefusal:
            # A list of the one value distinguishes a row that fails from a value that is NULL.
            try:
                lists = duck.column(f"TRY([{self._over_columns}])", table)
            except duck.DuckRefusal:  # error() cannot stand inside TRY: the rows go one by one
                return self._apart(rows, np.full(rows.shape[1], NULL), range(rows.shape[1]))
            wrong = lists.is_null().to_numpy(zero_copy_only=False)
            words = np.full(wrong.size, NULL)
            good = np.flatnonzero(~wrong)
            words[good], wrong[good] = self._words(lists.flatten())
        return self._apart(rows, words, np.flatnonzero(wrong).tolist())

    def _table(self, rows: np.ndarray) -> pa.Table:
        if not self.columns:
            return pa.table({"a0": pa.nulls(rows.shape[1])})
        arrays = zip(self.columns, rows, strict=True)
        return pa.table(
            {f"a{i}": decode_column(w, c.type, self._dictionary) for i, (c, w) in enumerate(arrays)}
        )

    def _words(self, results: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Words, and bool[n]: the rows whose value is too large, or out of the range of words."""
        large = too_large(results)
        if large is not None:
            words, wrong = self._words(pc.if_else(large, pa.scalar(None, results.type), results))
            return words, wrong | large
        if self._type.kind is Kind.NUMERIC:
            decimals = results.cast(pa.decimal128(38, self._type.scale or 0)) if self._type.whole else results
            return decimal_words(decimals, self._type, self._dictionary)
        if self._type.kind is Kind.BIGINT:
            words = results.fill_null(NULL).to_numpy().copy()
        else:
            words = encode_column(results, Column("", self._type), self._dictionary)
        return words, (words == NULL) & results.is_valid().to_numpy(zero_copy_only=False)


def _too_large() -> InvalidValue:
    return InvalidValue(f"its value has more than {LARGEST} bytes or {MOST_ELEMENTS} elements")


def foreign(
    template: str,
    args: Sequence[Evaluator],
    type: Type,
    dictionary: Dictionary,
    explain: Explain | None = None,
    lenient: bool = False,
    settle: Settle | None = None,
) -> Evaluator:
    """The evaluator of a DuckDB expression; with `lenient` a row that fails is NULL. `settle` answers rows
    without DuckDB.

    Raises PlanError if DuckDB refuses the expression.
    """
    remote = DuckExpression(template, args, type, dictionary)
    columns = remote.columns
    if settle is None and any(column.type.has_specials for column in columns):
        settle = SpecialRows(
            template, remote.with_arguments, [column.type for column in columns], type, dictionary
        )
    compute = remote.compute if settle is None else partial(settled, settle, remote.compute)
    memo = Memo(len(columns), compute, dictionary)
    says_all = _OWN_FAILURE in template

    def shown(row: np.ndarray, reason: str) -> str:
        return reason if says_all or reason.endswith(UNANSWERED) else f"{remote.show(row)}: {reason}"

    message = explain or shown

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        count = batch.shape[1]
        if out is None:
            out = np.empty(count, np.int64)
        rows = np.empty((len(columns), count), np.int64)
        for k, column in enumerate(columns):
            rows[k] = column.evaluate(batch, report, None)
        failed = memo(rows, out)
        if failed is not None and not lenient:
            places, numbers, reasons = failed
            why = dict(zip(places.tolist(), numbers.tolist(), strict=True))
            report.append(
                Failure(
                    places,
                    places,
                    lambda asked: [message(rows[:, i], reasons[why[i]]) for i in asked.tolist()],
                )
            )
        return out

    return Evaluator(evaluate, type, costly=True)
