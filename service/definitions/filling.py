"""Filling: the values that a table computes for its rows, and the rules for each row alone.

A column that is left out gets its DEFAULT, a generated column is computed from the others, and then NOT
NULL and CHECK are checked. The expressions are compiled once for a table; any thread may use them.
`service/changes/constraints.py` checks the rules between rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from engine.codec.json import decode_rows
from engine.kernels.words import NULL
from engine.plan.expressions import Expression
from engine.scalar.program import ScalarProgram
from engine.schema import INTEGER_RANGES, Kind
from engine.state.dictionary import Dictionary
from planner.adhoc.rowwise import condition_expression, default_expression, moves, naming, row_expressions
from planner.errors import InvalidQuery
from planner.relation import Relation
from planner.statements.table_rules import Check, Identity, TableRules
from service.catalog.identity_counters import IdentityCounter
from service.changes.lateness import far_times
from service.changes.table_changes import TableChanges
from service.definitions.named_sequences import NamedSequence
from service.errors import Invalid

_BIGINT = INTEGER_RANGES[Kind.BIGINT]
NO_RULES = TableRules()
Counter = IdentityCounter | NamedSequence
"""What gives a column its numbers."""
Fault = tuple[Invalid, np.ndarray]
"""An error, whose message lacks the name of the row, and the changes that have it, bool[n]."""


class Filling:
    def __init__(
        self,
        relation: Relation,
        rules: TableRules,
        dictionary: Dictionary,
        counter: Callable[[Identity, int], Counter],
    ) -> None:
        """Raises a PlannerError that names the column or constraint if an expression cannot be compiled."""
        self._relation = relation
        self._dictionary = dictionary
        self._defaults: dict[int, tuple[ScalarProgram, bool]] = {}
        schema = relation.schema
        for name, text in rules.defaults.items():
            with naming(f"the default of column {name}"):
                if name in rules.generated:
                    raise InvalidQuery("a generated column cannot have one")
                expression = default_expression(text, schema.types[schema.index(name)])
            self._defaults[schema.index(name)] = ScalarProgram((expression,), dictionary), moves(text)
        self.generated = tuple(schema.index(name) for name in rules.generated)
        self._counters = [
            (place, counter(i, INTEGER_RANGES.get(schema.types[place].kind, _BIGINT)[1]))
            for place, i in ((schema.index(n), i) for n, i in rules.identities.items())
        ]
        self.always = frozenset(schema.index(n) for n, i in rules.identities.items() if i.always)
        computed: list[Expression] = []
        for name, text in rules.generated.items():
            with naming(f"generated column {name}"):
                if text.columns() & rules.generated.keys():
                    raise InvalidQuery("it reads a generated column", "repeat that column's expression")
                computed += row_expressions([text], [schema.types[schema.index(name)]], relation)
        self._generated = ScalarProgram(tuple(computed), dictionary)
        self._required = [(name, schema.index(name)) for name in rules.required]
        self._checks: list[tuple[Check, ScalarProgram, bool]] = []
        for check in rules.of(Check):
            with naming(f"constraint {check.name}"):
                condition = condition_expression(check.condition, relation)
            self._checks.append((check, ScalarProgram((condition,), dictionary), moves(check.condition)))
        self._constant = self._computed({i for i, (_, moving) in self._defaults.items() if not moving}, 0)

    def counter(self, column: str) -> Counter | None:
        """What gives a column its numbers, if it is counted."""
        place = self._relation.schema.index(column)
        return next((counter for at, counter in self._counters if at == place), None)

    def defaults(self) -> np.ndarray:
        """The row int64[W] of an insert at this moment that names no column."""
        moving = {i for i, (_, moving) in self._defaults.items() if moving}
        if not moving:
            return self._constant
        row = self._computed(moving, _moment())
        for i in self._defaults.keys() - moving:
            row[i] = self._constant[i]
        return row

    def _computed(self, columns: set[int], moment: int) -> np.ndarray:
        row = np.full(len(self._relation.schema), NULL, np.int64)
        for i in columns:
            words, failed = self._defaults[i][0](np.array([[moment]], np.int64))
            if failed is not None:
                name = self._relation.schema.names[i]
                raise Invalid(f"the default of column {name}: {failed.messages[0]}", code="invalid_value")
            row[i] = words[0, 0]
        return row

    def left_out(self) -> list[object]:
        """The row, in JSON values, of an insert that names no column."""
        if not self._defaults:
            return [None] * len(self._relation.schema)
        (row,) = decode_rows(self.defaults()[:, None], self._relation.schema, self._dictionary)
        return list(row)

    def completed(self, changes: TableChanges) -> TableChanges:
        """The changes with numbers for identity columns that are NULL, and with generated columns computed.

        Raises Invalid if a generated column cannot be computed.
        """
        return self._generate(self._count(changes))

    def _count(self, changes: TableChanges) -> TableChanges:
        for place, counter in self._counters:
            left = np.flatnonzero((changes.words[place] == NULL) & ~changes.removes)
            if len(left):
                words = changes.words.copy()
                words[place, left] = counter.take(len(left))
                changes = replace(changes, words=words)
        return changes

    def _generate(self, changes: TableChanges) -> TableChanges:
        if not self.generated or not len(changes):
            return changes
        rows = np.ones(len(changes), np.bool_) if self._relation.key is None else ~changes.removes
        values, failed = self._generated(np.ascontiguousarray(changes.words[:, rows]))
        if failed is not None:
            place = int(np.flatnonzero(rows)[failed.rows[0]])
            raise Invalid(
                f"change {place} of table {self._relation.name}: {failed.messages[0]}",
                "a generated column cannot be computed",
                code="invalid_value",
            )
        words = changes.words.copy()
        words[np.ix_(np.array(self.generated), np.flatnonzero(rows))] = values
        return replace(changes, words=words)

    def recomputed(self, delta: np.ndarray) -> np.ndarray:
        """Differences int64[W + 2, n] with generated columns computed. Raises Invalid if one cannot be."""
        if not self.generated or not delta.shape[1]:
            return delta
        values, failed = self._generated(np.ascontiguousarray(delta[:-2]))
        if failed is not None:
            raise Invalid(
                f"a row of table {self._relation.name}: {failed.messages[0]}",
                "a generated column cannot be computed",
                code="invalid_value",
            )
        delta = delta.copy()
        delta[list(self.generated)] = values
        return delta

    def faults(self, changes: TableChanges, before: TableRules = NO_RULES) -> Iterator[Fault]:
        """The faults of complete changes, except NULLs in columns that were NOT NULL from the start.

        Of the rules `before`, under which rows were taken that are there already, those that read the time or
        keep a watermark are not judged again.
        """
        table = self._relation.name
        known = {check.name for check in before.of(Check)} if self._checks else ()
        for column, place in self._required:
            null = (changes.words[place] == NULL) & ~changes.removes
            if null.any():
                yield null_fault(column, table), null
        if before.watermark is None:
            yield from far_times(self._relation, changes)
        for check, program, moving in self._checks:
            if moving and check.name in known:
                continue
            values, failed = program(_at_this_moment(changes.words) if moving else changes.words)
            bad = values[0] == 0
            if failed is not None:
                bad[failed.rows] = True
            bad &= ~changes.removes
            if bad.any():
                text = f"violates constraint {check.name} of table {table}: CHECK ({check.condition.sql})"
                yield Invalid(text, code="check_violated"), bad


def _moment() -> int:
    """This moment, in microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def _at_this_moment(words: np.ndarray) -> np.ndarray:
    """Rows int64[W, n] with this moment as another column."""
    return np.concatenate((words, np.full((1, words.shape[1]), _moment(), np.int64)))


def null_fault(column: str, table: str) -> Invalid:
    """The fault of a row with a NULL in a NOT NULL column."""
    return Invalid(
        f"has NULL in column {column} of table {table}, which is NOT NULL", code="null_not_allowed"
    )
