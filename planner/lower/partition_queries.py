"""Window functions without an engine kernel: DuckDB computes them over each partition that changes.

A partition's result must be a function of its bag. So orders continue to the last column, also inside
functions of a frame's first or last value, and floats are summed in the order of their values.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.plan.group_queries import GROUPS, GroupQuery
from engine.plan.nodes import Function
from engine.schema import Column, Schema
from planner.ir import Frame, GeneralAggregate, Over, PlaceFunction, Unit, WindowItem
from planner.ir.scalar_text import shown_literal
from planner.lower.lowered import Lowered, taken

_OF_ROWS = frozenset({PlaceFunction.NTILE, PlaceFunction.LAG, PlaceFunction.LEAD})
"""Functions without a frame."""
_OF_FRAMES = frozenset({PlaceFunction.FIRST_VALUE, PlaceFunction.LAST_VALUE, PlaceFunction.NTH_VALUE})
_FLOATS = {Function.SUM: "fsum", Function.AVG: "favg"}


def asked(window: Over, rows: Lowered, items: Sequence[WindowItem]) -> Lowered:
    """The rows with the columns of the items. A query does not see the keys, so keys that it reads are
    duplicated."""
    keys = tuple(dict.fromkeys(rows.positions(window.keys)))
    arguments = [a for item in items for a in item.arguments if isinstance(a, int)]
    read = rows.positions((*arguments, *(ordering.column for ordering in window.order)))
    rows = taken(rows, (*range(len(rows.ids)), *dict.fromkeys(p for p in read if p in keys)))
    others = [position for position in range(len(rows.ids)) if position not in keys]
    text = _Text(window, rows, {rows.ids[p]: f"c{i}" for i, p in enumerate(others)})
    listed = ", ".join(["g", *(f"c{i}" for i in range(len(others))), *map(text.item, items)])
    columns = [rows.node.schema.columns[position] for position in others]
    results = [Column(item.attribute.name, item.attribute.type, item.attribute.nullable) for item in items]
    node = GroupQuery(rows.node, keys, f"SELECT {listed} FROM {GROUPS}", Schema((*columns, *results)))
    ids = tuple(rows.ids[position] for position in (*keys, *others))
    nullable = tuple(rows.nullable[position] for position in (*keys, *others))
    return Lowered(
        node,
        (*ids, *(item.attribute.id for item in items)),
        (*nullable, *(item.attribute.nullable for item in items)),
    )


class _Text:
    """Items as DuckDB's SQL; `names` maps attributes to the columns of a group."""

    def __init__(self, window: Over, rows: Lowered, names: dict[int, str]) -> None:
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
        over = self._over(item.frame if item.function not in _OF_ROWS else None)
        if isinstance(item.function, GeneralAggregate):
            return item.function.text([self._argument(a) for a in item.arguments], f" {over}")
        arguments = ", ".join(self._argument(a) for a in item.arguments)
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

    def _over(self, frame: Frame | None) -> str:
        """The window; if the frame depends on peers, its order is that of the peers alone."""
        if frame is None or frame.unit is Unit.ROWS:
            return f"OVER (PARTITION BY g ORDER BY {self.order} {frame or ''})"
        order = f"ORDER BY {self.peers} " if self.peers else ""
        return f"OVER (PARTITION BY g {order}{frame})"

    def _argument(self, argument: object) -> str:
        if not isinstance(argument, int):
            return shown_literal(argument)  # type: ignore[arg-type]
        return self.names[argument]

    def _is_float(self, item: WindowItem) -> bool:
        argument = item.arguments[0]
        return (
            isinstance(argument, int) and self.rows.node.schema.types[self.rows.position(argument)].is_float
        )
