"""Point reads of one relation's rows by `where` and `order_by`, kept by the shape of these texts.

Where the values of a predicate are only what columns are equal to, its shape is planned once, with parameters
in their place. Any other point read is kept by its whole text.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from engine.errors import EngineError
from engine.state.dictionary import Dictionary
from planner.adhoc.comparands import Argument, Comparand
from planner.adhoc.point_query import PointQuery, point_query
from planner.errors import PlannerError
from planner.parsing.parameters import Given
from planner.parsing.script import split
from planner.sql_types import minus
from service.definitions.definition import Definition
from service.reading.literal_shapes import LiteralShape, Value, probe, shape_of
from service.reading.point_reads import PointRead
from service.reading.predicates import predicate, sort_keys

_DIALECT = "postgres"
_MOST = 512
"""The most that are kept, of texts no longer than `_LONGEST` characters."""
_LONGEST = 2_000
_NOTHING: Mapping[str, Given] = {}
Asked = tuple[PointRead, Mapping[str, Given]]
"""A point read, and the values of its parameters."""


@dataclass(frozen=True, eq=False)
class _Entry:
    """What is known of a text, or of all texts of a shape. `read` is None if they are no point reads, and
    `negated` says of each value of the shape whether a minus stands before it. `is_apart`: each text of the
    shape has an entry of its own."""

    definition: Definition
    read: PointRead | None
    negated: tuple[bool, ...] = ()
    is_apart: bool = False

    def asked(self, values: Sequence[Value]) -> Asked | None:
        """The read of the text that has these values."""
        if self.read is None or not values:
            return None if self.read is None else (self.read, _NOTHING)
        pairs = zip(values, self.negated, strict=True)
        return self.read, {str(i): Given(-v if minus else v) for i, (v, minus) in enumerate(pairs)}  # type: ignore[operator]


class RowQueries:
    """Any thread may use it."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str, str], _Entry] = OrderedDict()

    def ready(self, definition: Definition, where: str, order_by: str | None) -> Asked | None:
        """The point read of the relation's rows, if it needs no planning."""
        order = order_by or ""
        shape = _shape(where, order)
        known = self._known(definition, shape.text, order)
        if known is not None and known.is_apart:
            known, shape = self._known(definition, where, order), LiteralShape(where, ())
        return None if known is None else known.asked(shape.values)

    def read(self, definition: Definition, where: str, order_by: str | None) -> Asked | None:
        """The point read of the relation's rows; None if it takes more than that. Raises what `predicate` and
        `sort_keys` raise for texts that they refuse."""
        order = order_by or ""
        shape = _shape(where, order)
        known = self._known(definition, shape.text, order)
        if known is not None and not known.is_apart:
            return known.asked(shape.values)
        whole = self._known(definition, where, order) if known is not None else None
        if whole is not None:
            return whole.asked(())
        predicate(where, definition.schema)
        if order:
            sort_keys(order, definition.schema)
        if shape.values and known is None:
            known = self._of_shape(definition, where, order)
            self._keep(shape.text, order, known)
            if not known.is_apart:
                return known.asked(shape.values)
        whole = _Entry(definition, self._compiled(definition, self._planned(definition, where, order)))
        self._keep(where, order, whole)
        return whole.asked(())

    def _known(self, definition: Definition, text: str, order: str) -> _Entry | None:
        key = (definition.id, text, order)
        with self._lock:
            found = self._kept.get(key)
            if found is None or found.definition is not definition:
                return None
            self._kept.move_to_end(key)
            return found

    def _keep(self, text: str, order: str, entry: _Entry) -> None:
        if len(text) + len(order) > _LONGEST:
            return
        with self._lock:
            self._kept[entry.definition.id, text, order] = entry
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)

    def _of_shape(self, definition: Definition, where: str, order: str) -> _Entry:
        """The entry of the shape of a predicate. It is found out with values that cannot be confused."""
        text, values = probe(where)
        query = self._planned(definition, text, order)
        found = None if query is None else _with_parameters(query, values)
        if found is None:
            return _Entry(definition, None, is_apart=True)
        query, negated = found
        return _Entry(definition, self._compiled(definition, query), negated)

    def _planned(self, definition: Definition, where: str, order: str) -> PointQuery | None:
        name = exp.to_identifier(definition.name, quoted=True).sql(_DIALECT)
        last = f" ORDER BY {order}" if order else ""
        try:
            every = replace(definition.relation, period=None)
            (piece,) = split(f"SELECT * FROM {name} WHERE ({where}\n){last}", _DIALECT)
            return point_query(piece.template(), {definition.name: every}, _DIALECT, {})
        except (PlannerError, EngineError, RecursionError, UnicodeError, ValueError):
            return None

    def _compiled(self, definition: Definition, query: PointQuery | None) -> PointRead | None:
        try:
            return None if query is None else PointRead(query, definition, self._dictionary)
        except EngineError:
            return None


def _shape(where: str, order: str) -> LiteralShape:
    return shape_of(where) if len(where) + len(order) <= _LONGEST else LiteralShape(where, ())


def _with_parameters(
    query: PointQuery, values: Sequence[Value]
) -> tuple[PointQuery, tuple[bool, ...]] | None:
    """The query with a parameter in place of each value, the name of which is the value's number, and whether
    the query has it with a minus. None if a value stands elsewhere than in an equation of a column."""
    numbers: dict[object, tuple[int, bool]] = {value: (i, False) for i, value in enumerate(values)}
    numbers |= {minus(value): (i, True) for i, value in enumerate(values) if isinstance(value, int | Decimal)}
    found: list[tuple[int, bool]] = []

    def replaced(term: Comparand) -> Comparand:
        if term.value not in numbers:
            return term
        found.append(numbers[term.value])
        return replace(term, value=Argument(str(found[-1][0])))

    equations = tuple(
        replace(equation, terms=tuple(map(replaced, equation.terms)))
        for equation in query.equations
        if not equation.is_list
    )
    # A value that is found twice is another one's that only looks like it.
    if len(equations) < len(query.equations) or sorted(i for i, _ in found) != list(range(len(values))):
        return None
    return replace(query, equations=equations), tuple(minus for _, minus in sorted(found))
