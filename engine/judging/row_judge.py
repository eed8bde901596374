"""The judge of rows: batches of values from outside into a table's words, and the faults of rows.

There is one judge for what this process reads and for what Spark reads, so that a value fits a column or not
wherever it is read. It takes a column at a time. Texts that have the plainest form of their type cost little
(`engine.codec.plain_texts`); of a column with any other, `text_reader` decides about each.

A row's fault is the first one, in the order of the table's columns; that it is no record comes before all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from engine.codec.arrow_texts import is_text
from engine.codec.plain_texts import words_of_plain
from engine.errors import InvalidValue
from engine.judging.text_readings import text_reader
from engine.judging.typed_readings import refused, shown
from engine.kernels.parallel import threads
from engine.kernels.words import NULL
from engine.schema import Column, Type
from engine.state.dictionary import Dictionary

_SHOWN = 80
"""The most characters of a value that a message shows."""
_SAMPLE, _FEW = 1024, 64
"""If so many texts have no more distinct ones, the others of their batch will hardly have many."""
_Fault = tuple[np.ndarray, Callable[[int], str]]


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """`words` int64[W, n] of all rows, undefined for bad ones; `bad` bool[n]."""

    words: np.ndarray
    bad: np.ndarray
    faults: Sequence[_Fault]

    def message(self, row: int) -> str:
        """The fault of a bad row."""
        return next(say(row) for which, say in self.faults if which[row])

    def messages(self, most: int) -> list[str]:
        """The faults of the first bad rows."""
        return [self.message(row) for row in np.flatnonzero(self.bad)[:most].tolist()]

    @property
    def good(self) -> np.ndarray:
        """The words of the good rows, C-contiguous."""
        return np.ascontiguousarray(self.words[:, ~self.bad]) if self.bad.any() else self.words


@dataclass(frozen=True)
class RowJudge:
    """`columns` are the table's. `sources` has the place of each in a batch, None for one that is not there
    and becomes NULL; `corrupt` is the place of a column with the texts of what is no record."""

    columns: tuple[Column, ...]
    sources: tuple[int | None, ...]
    corrupt: int | None = None

    def judged(
        self, batch: pa.RecordBatch, dictionary: Dictionary, out: np.ndarray | None = None
    ) -> JudgedRows:
        """The rows of a batch; their words are written to `out`, if it is given."""
        words = np.empty((len(self.columns), batch.num_rows), np.int64) if out is None else out

        def judge(place: int) -> list[_Fault]:
            return self._judged_column(place, batch, dictionary, words[place])

        faults = [] if self.corrupt is None else _no_records(batch.column(self.corrupt))
        places = sorted(range(len(self.columns)), key=lambda place: self._size(place, batch), reverse=True)
        each = threads.each if batch.num_rows >= threads.LARGE else map
        found = dict(zip(places, each(judge, places), strict=True))
        for place in sorted(found):
            faults += found[place]
        bad = np.zeros(batch.num_rows, np.bool_)
        for which, _ in faults:
            bad |= which
        return JudgedRows(words, bad, faults)

    def _size(self, place: int, batch: pa.RecordBatch) -> int:
        """The bytes of a column's values: the largest are judged first, so that all threads end together."""
        source = self.sources[place]
        return 0 if source is None else batch.column(source).nbytes

    def _judged_column(
        self, place: int, batch: pa.RecordBatch, dictionary: Dictionary, words: np.ndarray
    ) -> list[_Fault]:
        """Writes the words of a column to int64[n]; returns its faults."""
        column, source = self.columns[place], self.sources[place]
        if source is None:
            words[:] = NULL
            return []
        array = batch.column(source)
        faults: list[_Fault] = []
        words[:], bad = _values(array, column.type, dictionary)
        if bad is not None:
            faults.append((bad, _misfit(column, array)))
        if not column.nullable and array.null_count:
            faults.append((array.is_null().to_numpy(zero_copy_only=False), _missing(column)))
        return faults


def _values(array: pa.Array, type: Type, dictionary: Dictionary) -> tuple[np.ndarray, np.ndarray | None]:
    """The words of an array, and which values do not fit, bool[n], or None if all do."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        return _shared(array, type, dictionary)
    if not is_text(array.type):
        if not len(array):
            return np.empty(0, np.int64), None
        typed, misfits = refused(array, type, dictionary)
        return typed, misfits if misfits.any() else None
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    if len(array) > _SAMPLE and len(array[:_SAMPLE].unique()) <= _FEW:
        return _shared(array.dictionary_encode(), type, dictionary)
    undecodable = _undecodable(array)
    if undecodable is None:
        words = words_of_plain(array, type, dictionary)
        if words is not None:
            return words, None
    return _texts(array, undecodable, type, dictionary)


def _shared(
    array: pa.DictionaryArray, type: Type, dictionary: Dictionary
) -> tuple[np.ndarray, np.ndarray | None]:
    """The same for an array whose values are shared by its rows."""
    words, bad = _values(array.dictionary, type, dictionary)
    places = array.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    found = np.append(words, NULL)[places]
    if bad is None:
        return found, None
    which = np.append(bad, False)[places]
    return found, which if which.any() else None


def _texts(
    array: pa.Array, undecodable: np.ndarray | None, type: Type, dictionary: Dictionary
) -> tuple[np.ndarray, np.ndarray | None]:
    """The words of texts, one by one."""
    words = np.full(len(array), NULL)
    bad = np.zeros(len(array), np.bool_) if undecodable is None else undecodable
    read = text_reader(type)
    if undecodable is not None:
        array = pa.array([None if b else v for v, b in zip(_decoded(array), bad, strict=True)], pa.string())
    for row, text in enumerate(array.to_pylist()):
        if text is not None:
            try:
                words[row] = read(text, dictionary)
            except InvalidValue:
                bad[row] = True
    return words, bad if bad.any() else None


def _undecodable(array: pa.Array) -> np.ndarray | None:
    """Which texts are not UTF-8, bool[n]; None if all are."""
    try:
        array.validate(full=True)
        return None
    except pa.ArrowInvalid:
        return np.array([text is not None and "\ufffd" in text for text in _decoded(array)], np.bool_)


def _decoded(array: pa.Array) -> list[str | None]:
    """Texts whose undecodable bytes are shown as replaced."""
    large = pa.types.is_large_string(array.type)
    values = array.view(pa.large_binary() if large else pa.binary()).to_pylist()
    return [None if value is None else value.decode(errors="replace") for value in values]


def _no_records(records: pa.Array) -> list[_Fault]:
    if records.null_count == len(records):
        return []
    bad = records.is_valid().to_numpy(zero_copy_only=False)
    return [(bad, lambda row: f"not a record: {_shown(records, row)}")]


def _misfit(column: Column, array: pa.Array) -> Callable[[int], str]:
    return lambda row: f"column {column.name}: {_shown(array, row)} is not a valid {column.type}"


def _missing(column: Column) -> Callable[[int], str]:
    return lambda row: f"column {column.name}: NULL in a column that is NOT NULL"


def _shown(array: pa.Array, row: int) -> str:
    """The value of a row as a message shows it."""
    one = array.slice(row, 1)
    if pa.types.is_dictionary(one.type):
        one = one.dictionary_decode()
    if is_text(one.type) and not pa.types.is_string_view(one.type):
        return str(_decoded(one)[0])[:_SHOWN]
    try:
        return shown(one.to_pylist(maps_as_pydicts="strict")[0])[:_SHOWN]
    except (ValueError, OverflowError, pa.ArrowException):
        return str(one[0])[:_SHOWN]  # Python has no value for it
