"""Point reads: a point query over a relation, prepared once and run for many values.

A run encodes the values, finds the rows along an access path, and computes the answer's columns from them.
It gives no answer, and DuckDB has to, if a value does not fit, too many rows would have to be looked at, no
path can be used at the epoch, or a row fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.codec.numerals import explained, numbers_of, rank_of
from engine.errors import EngineError
from engine.kernels.words import NULL
from engine.plan.expressions import ColumnRef, Expression, Foreign, columns_of, walk
from engine.scalar.program import ScalarProgram
from engine.schema import Kind, Type
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows
from engine.state.snapshot import Snapshot
from planner.adhoc.point_query import PointQuery, SortKey
from planner.parsing.parameters import Given
from service.definitions.access_paths import AccessPath, ways
from service.definitions.definition import Definition
from service.reading.finding import find_rows
from service.reading.found_rows import AnswerColumns, FoundRows
from service.reading.lookup_words import Unfit, number_of, parameter_word, words_of

MOST = 4096
"""The most differences that a point read looks at."""
AT_ONCE = 64
"""The most of a read that nobody else need notice."""
_FEW = 8
_MOST_BYTES = 16 << 20
"""Answers with more bytes of texts are DuckDB's, which has a limit for them."""
_TEXTS = 10_000
"""A program's own dictionary is emptied when it has so many texts."""


class PointRead:
    """Any thread may run it. `definition` is the relation as it was when the query was prepared."""

    def __init__(self, query: PointQuery, definition: Definition, dictionary: Dictionary) -> None:
        """Raises EngineError if an expression cannot be compiled."""
        self.query = query
        self.definition = definition
        self._dictionary = dictionary
        self._schema = definition.schema
        equated = {equation.column for equation in query.equations}
        self.ways: Sequence[AccessPath] = ways(definition.paths, equated)
        """The paths that it may take, the best first."""
        width = len(self._schema)
        used = set().union(*(columns_of(expression) for expression in query.expressions))
        self._needed = frozenset({column for column in used if column < width} | equated)
        self._computes = any(not isinstance(expression, ColumnRef) for expression in query.expressions)
        self.is_zoned = any(map(_is_zoned, query.expressions))
        """Whether the answer depends on the time zone of the session."""
        self._types = (*self._schema.types, *(type for _, type in query.parameters))
        self._equations = [(equation, self._schema.types[equation.column]) for equation in query.equations]
        self._told = [i for i in sorted(used) if self._types[i].is_interned or self._types[i].may_be_wide]
        self._outputs = len(query.schema)
        self.columns = AnswerColumns(query.schema)
        self._compiled = self._compile()
        self._has_texts = any(type.is_interned for _, type in self._equations)
        few = all(len(equation.terms) <= _FEW and not equation.is_list for equation in query.equations)
        foreign = any(isinstance(e, Foreign) for expression in query.expressions for e in walk(expression))
        self.is_light = few and not foreign
        """Whether a run over few rows takes less time than a change of threads."""

    def _compile(self) -> tuple[ScalarProgram, Dictionary | None]:
        """The program, and a dictionary of its own for texts that it makes: reads must not add to the
        engine's."""
        texts = any(e.type.is_interned or e.type.may_be_wide for e in self.query.expressions)
        own = Dictionary() if self._computes and (texts or self._told) else None
        dictionary = self._dictionary if own is None else own
        return ScalarProgram(self.query.expressions, dictionary), own

    def run(
        self, snapshot: Snapshot, epoch: int | None, given: Mapping[str, Given], most: int = MOST
    ) -> FoundRows | None:
        """The answer at an epoch at which the relation can be read, the newest by default, if it takes a look
        at no more than `most` differences; None if there is none from here."""
        held = self._dictionary.hold()
        try:
            return self._run(snapshot, epoch, given, most)
        except (Unfit, EngineError):
            return None
        finally:
            del held

    def _run(
        self, snapshot: Snapshot, epoch: int | None, given: Mapping[str, Given], most: int
    ) -> FoundRows | None:
        query = self.query
        offset, limit = number_of(query.offset, given), number_of(query.limit, given)
        found = self._found(snapshot, epoch, given, most)
        if found is None:
            return None
        words, counts = found
        if counts.size and (counts[0] if counts.size == 1 else counts.max()) > 1:
            if int(counts.sum()) > most:
                return None
            words = np.repeat(words, counts, axis=1)
        results, dictionary = self._computed(words, given)
        if results is None:
            return None
        if query.is_condition:
            results = results[:, results[self._outputs] == 1]
        if query.keys and results.shape[1] > 1:
            results = results[:, _sorted(results, query.keys, query.expressions, dictionary)]
        rows = results[: self._outputs]
        if offset is not None or limit is not None:
            start = offset or 0
            rows = rows[:, start : None if limit is None else start + limit]
        if rows.shape[1] > _FEW and self._text_bytes(rows, dictionary) > _MOST_BYTES:
            return None
        at = snapshot.upper - 1 if epoch is None else epoch
        return FoundRows(self.columns, at, rows, dictionary, snapshot.texts)

    def _text_bytes(self, rows: np.ndarray, dictionary: Dictionary) -> int:
        """The bytes of the texts in rows of the answer."""
        types = self.query.schema.types
        told = [explained(line, type) for line, type in zip(rows, types, strict=True) if type.is_interned]
        return sum(dictionary.array(np.ascontiguousarray(words)).nbytes for words in told)

    def _found(
        self, snapshot: Snapshot, epoch: int | None, given: Mapping[str, Given], most: int
    ) -> Rows | None:
        """The relation's rows that satisfy the equations. Raises Unfit."""
        wanted: dict[int, Mapping[int, str | None]] = {}
        for equation, type in self._equations:
            wanted[equation.column] = words_of(equation, type, given, self._dictionary)
        name = self.definition.name
        rows = find_rows(snapshot, name, self.ways, wanted, epoch, most, self._needed)
        return self._checked(rows, wanted) if self._has_texts and rows is not None else rows

    def _checked(self, rows: Rows, texts: Mapping[int, Mapping[int, str | None]]) -> Rows:
        """The rows whose texts are the wanted ones, not others that have their words."""
        words, counts = rows
        for column, wanted in texts.items():
            if not self._types[column].is_interned:
                continue
            there = set(words[column].tolist())
            false = [w for w in there if self._dictionary.text(w) != wanted[w]]
            if false:
                kept = ~np.isin(words[column], false)
                words, counts = np.ascontiguousarray(words[:, kept]), counts[kept]
        return words, counts

    def _computed(
        self, words: np.ndarray, given: Mapping[str, Given]
    ) -> tuple[np.ndarray | None, Dictionary]:
        """The results of the expressions, and the dictionary of their texts; None if a row fails."""
        program, own = self._compiled
        if own is not None and len(own) > _TEXTS:
            program, own = self._compiled = self._compile()
        for place in self._told if own is not None else ():
            if own is not None and place < len(words):
                own.absorb(*self._dictionary.entries(explained(words[place], self._types[place])))
        dictionary = self._dictionary if own is None else own
        if self.query.parameters:
            line = [parameter_word(given.get(name), type, dictionary) for name, type in self.query.parameters]
            more = np.repeat(np.array(line, np.int64)[:, None], words.shape[1], axis=1)
            words = np.concatenate([words, more])
        if not words.shape[1]:
            return np.empty((len(self.query.expressions), 0), np.int64), dictionary
        results, failed = program(words)
        return (None if failed is not None else results), dictionary


def _sorted(
    results: np.ndarray, keys: Sequence[SortKey], expressions: Sequence[Expression], dictionary: Dictionary
) -> list[int]:
    """The places of rows in the order of sort keys; equal ones stay in their order."""
    places = list(range(results.shape[1]))
    for key in reversed(keys):
        values = _values(results[key.place], expressions[key.place].type, dictionary)
        nulls = [place for place in places if values[place] is None]
        others = [place for place in places if values[place] is not None]
        others.sort(key=values.__getitem__, reverse=key.descending)
        places = [*nulls, *others] if key.nulls_first else [*others, *nulls]
    return places


def _values(words: np.ndarray, type: Type, dictionary: Dictionary) -> list:
    """What sorts as the values of a column do, None for NULL."""
    if type.is_interned:
        return dictionary.texts(words)
    if type.may_be_wide:
        return [None if number is None else rank_of(number) for number in numbers_of(words, dictionary)]
    return [None if word == NULL else word for word in words.tolist()]


def _is_zoned(expression: Expression) -> bool:
    """Whether an expression may depend on the session's time zone: it computes with moments, or in a way that
    only DuckDB knows."""
    if isinstance(expression, ColumnRef):
        return False
    return any(isinstance(e, Foreign) or e.type.kind is Kind.TIMESTAMPTZ for e in walk(expression))
