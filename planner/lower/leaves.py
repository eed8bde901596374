"""Tables, constants and variables: the sources of rows."""

from __future__ import annotations

from engine.plan.nodes import Constant, Variable
from engine.schema import BOOLEAN, Column, Schema
from planner.ir import Attribute, TableScan, Values
from planner.lower.lowered import NOBODY, Lowered, lowered, taken

UNIT_ROW = lowered(Constant(((True,),), Schema((Column("c0", BOOLEAN, False),))), (NOBODY,), frozenset())
"""One row, whose content does not matter."""


def lower_scan(scan: TableScan) -> Lowered:
    every = [NOBODY] * len(scan.plan.schema)
    for column, position in zip(scan.columns, scan.positions, strict=True):
        every[position] = column.id
    key = None if scan.key is None else frozenset(scan.key)
    return taken(lowered(scan.plan, tuple(every), key), scan.positions)


def lower_values(values: Values) -> Lowered:
    if not values.columns:
        return Lowered(Constant(((True,),) * len(values.rows), UNIT_ROW.node.schema), (NOBODY,), (False,))
    nullable = [any(row[i] is None for row in values.rows) for i in range(len(values.columns))]
    columns = tuple(Column(f"c{i}", c.type, nullable[i]) for i, c in enumerate(values.columns))
    return lowered(Constant(values.rows, Schema(columns)), tuple(c.id for c in values.columns))


def variable(name: str, columns: tuple[Attribute, ...]) -> Variable:
    """A recursive name, with its columns named by position."""
    return Variable(name, Schema(tuple(Column(f"c{i}", c.type, c.nullable) for i, c in enumerate(columns))))
