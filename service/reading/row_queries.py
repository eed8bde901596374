"""Point reads of one relation's rows by `where` and `order_by`, kept by these texts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace

from sqlglot import exp

from engine.errors import EngineError
from engine.state.dictionary import Dictionary
from planner.adhoc.point_query import point_query
from planner.errors import PlannerError
from planner.parsing.script import split
from service.definitions.definition import Definition
from service.reading.point_reads import PointRead
from service.reading.predicates import predicate, sort_keys

_DIALECT = "postgres"
_MOST = 512
"""The most that are kept, of texts no longer than `_LONGEST` characters."""
_LONGEST = 2_000


class RowQueries:
    """Any thread may use it."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str, str], tuple[Definition, PointRead | None]] = OrderedDict()

    def read(self, definition: Definition, where: str, order_by: str | None) -> PointRead | None:
        """The point read of the relation's rows; None if it takes more than that. Raises what `predicate` and
        `sort_keys` raise for texts that they refuse."""
        key = (definition.id, where, order_by or "")
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found[0] is definition:
                self._kept.move_to_end(key)
                return found[1]
        predicate(where, definition.schema)
        if order_by:
            sort_keys(order_by, definition.schema)
        read = self._made(definition, where, order_by)
        if len(where) + len(order_by or "") <= _LONGEST:
            with self._lock:
                self._kept[key] = definition, read
                while len(self._kept) > _MOST:
                    self._kept.popitem(last=False)
        return read

    def _made(self, definition: Definition, where: str, order_by: str | None) -> PointRead | None:
        name = exp.to_identifier(definition.name, quoted=True).sql(_DIALECT)
        order = f" ORDER BY {order_by}" if order_by else ""
        try:
            every = replace(definition.relation, period=None)
            (piece,) = split(f"SELECT * FROM {name} WHERE ({where}\n){order}", _DIALECT)
            query = point_query(piece.template(), {definition.name: every}, _DIALECT, {})
            return None if query is None else PointRead(query, definition, self._dictionary)
        except (PlannerError, EngineError, RecursionError, UnicodeError, ValueError):
            return None
