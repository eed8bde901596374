"""Window functions without an engine kernel: DuckDB computes them over each partition that changes.

A partition's result must be a function of its bag. So orders continue to the last column, also inside
functions of a frame's first or last value, and floats are summed in the order of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.plan.group_queries import GROUPS, GroupQuery
from engine.plan.nodes import Function
from engine.schema import Column, Schema
from planner.ir import Frame, GeneralAggregate, Over, PlaceFunction, Unit, WindowItem, function_name
from planner.ir.scalar_text import shown_literal
from planner.lower.lowered import Lowered, taken

_OF_ROWS = frozenset({PlaceFunction.NTILE, PlaceFunction.LAG, PlaceFunction.LEAD})
"""Functions without a frame."""
_OF_FRAMES = frozenset({PlaceFunction.FIRST_VALUE, PlaceFunction.LAST_VALUE, PlaceFunction.NTH_VALUE})
_OF_PEERS = frozenset({"group", "ties"})
_PEERS, _PLACE = "p_peers", "p_place"
"""Columns of a row's group of peers, and of its place."""
_FLOATS = {Function.SUM: "fsum", Function.AVG: "favg"}


def asked(window: Over, rows: Lowered, items: Sequence[WindowItem]) -> Lowered:
    """The rows with the columns of the items. A query does not see the keys, so keys that it reads are
    duplicated."""
    keys = tuple(dict.fromkeys(rows.positions(window.keys)))
    arguments = [a for item in items for a in item.arguments if isinstance(a, int)]
    read = rows.positions((*arguments, *(ordering.column for ordering in window.order)))
    rows = taken(rows, (*range(len(rows.ids)), *dict.fromkeys(p for p in read if p in keys)))
    others = [position for position in range(len(rows.ids)) if position not in keys]
    text = _Text(window, rows, {rows.ids[p]: f"c{i}" for i, p in enumerate(others)}, items)
    listed = ", ".join(["g", *(f"c{i}" for i in range(len(others))), *map(text.item, items)])
    columns = [rows.node.schema.columns[position] for position in others]
    results = [Column(item.attribute.name, item.attribute.type, item.attribute.nullable) for item in items]
    node = GroupQuery(rows.node, keys, f"SELECT {listed} FROM {text.source()}", Schema((*columns, *results)))
    ids = tuple(rows.ids[position] for position in (*keys, *others))
    nullable = tuple(rows.nullable[position] for position in (*keys, *others))
    return Lowered(
        node,
        (*ids, *(item.attribute.id for item in items)),
        (*nullable, *(item.attribute.nullable for item in items)),
    )


class _Text:
    """Items as DuckDB's SQL; `names` maps attributes to the columns of a group."""

    def __init__(
        self, window: Over, rows: Lowered, names: dict[int, str], items: Sequence[WindowItem]
    ) -> None:
        self.items = items
        general = (item for item in items if isinstance(item.function, GeneralAggregate))
        listed = enumerate(filter(_lacks_peers, general))
        self.kept = {item.attribute.id: f"p_kept_{i}" for i, item in listed}  # columns of the source
        self.rows = rows
        self.names = names
        peers: dict[int, str] = {}
        for id, descending, first in window.order:
            nulls = f"NULLS {'FIRST' if first else 'LAST'}"
            peers.setdefault(id, f"{names[id]}{' DESC' if descending else ''} {nulls}")
        every = dict.fromkeys(id for id in (*window.ties, *names) if id in names)
        self.peers = ", ".join(peers.values())
        self.order = ", ".join(peers.get(id, names[id]) for id in {**peers, **every})

    def item(self, item: WindowItem) -> str:
        if _lacks_peers(item):
            if isinstance(item.function, GeneralAggregate):
                return self._of_kept(item, item.function)
            return self._without_peers(item)
        over = self._over(item, item.frame if item.function not in _OF_ROWS else None)
        if isinstance(item.function, GeneralAggregate):
            order = self.order if self.peers else ""
            return item.function.text([self._argument(a) for a in item.given], f" {over}", order)
        arguments = ", ".join(self._argument(a) for a in item.given)
        if item.function in _FLOATS and self._is_float(item):
            distinct = "DISTINCT " if item.distinct else ""
            return (
                f"list_aggregate(list_sort(list({distinct}{arguments}) {over}), '{_FLOATS[item.function]}')"  # type: ignore[index]
            )
        if item.function in _OF_FRAMES and item.frame.unit is not Unit.ROWS:
            arguments += f" ORDER BY {self.order}"
        nulls = " IGNORE NULLS" if item.ignores_nulls else ""
        distinct = "DISTINCT " if item.distinct else ""
        return f"{item.function.value}({distinct}{arguments or '*'}{nulls}) {over}"

    def _without_peers(self, item: WindowItem) -> str:
        """A function of a frame of ROWS without the row's peers: rows have a total order, in which no two are
        peers, so the values come with their places among the groups of peers."""
        kept = f"({_kept(item)}) AND e.v0 IS NOT NULL" if item.ignores_nulls else _kept(item)
        values = f"list_transform(list_filter({self._rows(item)}, lambda e: {kept}), lambda e: e.v0)"
        match item.function:
            case PlaceFunction.FIRST_VALUE:
                return f"{values}[1]"
            case PlaceFunction.LAST_VALUE:
                return f"{values}[-1]"
            case PlaceFunction.NTH_VALUE:
                return f"{values}[{self._argument(item.arguments[1])}]"
        values = f"list_distinct({values})" if item.distinct else values
        if item.function in _FLOATS and self._is_float(item):
            return f"list_aggregate(list_sort({values}), '{_FLOATS[item.function]}')"  # type: ignore[index]
        none = "coalesce({}, 0)" if item.function is Function.COUNT else "{}"
        return none.format(f"list_aggregate({values}, '{function_name(item.function)}')")

    def _rows(self, item: WindowItem) -> str:
        """The list of the frame's rows: their arguments, their peers, and their places."""
        over = self._over(item, replace(item.frame, exclude=""))
        columns = [self._argument(argument) for argument in item.given] or ["1"]
        values = "".join(f"'v{i}': {column}, " for i, column in enumerate(columns))
        return f"list({{{values}'p': {_PEERS}, 'n': {_PLACE}}}) {over}"

    def _of_kept(self, item: WindowItem, function: GeneralAggregate) -> str:
        """An aggregate of the rows that the source has kept for the item, in their order."""
        given = [
            f"e.v{i}" if isinstance(argument, int) else self._argument(argument)
            for i, argument in enumerate(item.given)
        ]
        value = function.text(given, "", "e.n" if self.peers else "")
        return f"(SELECT {value} FROM (SELECT unnest({self.kept[item.attribute.id]}) AS e))"

    def source(self) -> str:
        """The rows of the groups, with their places where an item excludes peers."""
        if not any(map(_lacks_peers, self.items)):
            return GROUPS
        peers = f"ORDER BY {self.peers}" if self.peers else ""
        places = f"row_number() OVER (PARTITION BY g ORDER BY {self.order}) AS {_PLACE}"
        rows = f"(SELECT *, dense_rank() OVER (PARTITION BY g {peers}) AS {_PEERS}, {places} FROM {GROUPS})"
        if not self.kept:
            return rows
        named = [
            (item, self.kept[item.attribute.id]) for item in self.items if item.attribute.id in self.kept
        ]
        frames = ", ".join(f"{self._rows(item)} AS {name}" for item, name in named)
        kept = ", ".join(f"list_filter({name}, lambda e: {_kept(item)}) AS {name}" for item, name in named)
        return f"(SELECT * REPLACE ({kept}) FROM (SELECT *, {frames} FROM {rows}))"

    def _over(self, item: WindowItem, frame: Frame | None) -> str:
        """The window; if the frame depends on peers, its order is that of the peers alone."""
        text = (
            frame.text([self._argument(distance) for distance in item.distances]) if frame is not None else ""
        )
        if frame is None or frame.unit is Unit.ROWS:
            return f"OVER (PARTITION BY g ORDER BY {self.order} {text})"
        order = f"ORDER BY {self.peers} " if self.peers else ""
        return f"OVER (PARTITION BY g {order}{text})"

    def _argument(self, argument: object) -> str:
        if not isinstance(argument, int):
            return shown_literal(argument)  # type: ignore[arg-type]
        return self.names[argument]

    def _is_float(self, item: WindowItem) -> bool:
        argument = item.given[0]
        return (
            isinstance(argument, int) and self.rows.node.schema.types[self.rows.position(argument)].is_float
        )


def _lacks_peers(item: WindowItem) -> bool:
    """Whether the function is of a frame of ROWS without the row's peers."""
    is_framed = item.frame.unit is Unit.ROWS and item.function not in _OF_ROWS
    return is_framed and item.frame.exclude in _OF_PEERS


def _kept(item: WindowItem) -> str:
    """Whether a row of the frame stays: if it is no peer of the row, or with TIES the row itself."""
    return f"e.p <> {_PEERS}" + (f" OR e.n = {_PLACE}" if item.frame.exclude == "ties" else "")
