"""The operators of relational algebra over bags."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

from engine.errors import PlanError
from engine.plan.nodes import Node
from planner.ir.aggregates import AggregateItem
from planner.ir.core import Attribute, Expression, Item, Relational, Replacing, Widening
from planner.ir.declared import ColumnNumber


@dataclass(frozen=True)
class TableScan(Relational):
    """Some columns of a table or view: `columns[i]` is position `positions[i]` of `plan`.

    `rows` is the number of rows when the query was planned, if known.
    """

    name: str
    plan: Node
    columns: tuple[Attribute, ...]
    positions: tuple[int, ...]
    key: tuple[int, ...] | None = None
    rows: int | None = None


@dataclass(frozen=True)
class Values(Relational):
    """Constant rows, with values as `engine.plan.expressions.Literal` takes them. A query without FROM reads
    one row without columns."""

    columns: tuple[Attribute, ...]
    rows: tuple[tuple[object, ...], ...]


UNIT = Values((), ((),))


@dataclass(frozen=True)
class Project(Replacing):
    """Each row becomes the values of the items."""

    input: Relational
    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        for attribute, expression in self.items:
            if attribute.type != expression.type:
                raise PlanError(f"{attribute.name} is {attribute.type}, its expression {expression.type}")


@dataclass(frozen=True)
class Selection(Widening):
    """The rows for which `predicate` is true."""

    input: Relational
    predicate: Expression


class JoinKind(enum.Enum):
    """SEMI and ANTI keep the left rows with or without a match; MARK keeps all and adds whether there is a
    match."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    MARK = "mark"


@dataclass(frozen=True)
class ThetaJoin(Relational):
    """Pairs of rows for which `condition` is true. (A right join is a left join with its sides swapped.)

    An inner or left join is *lateral* if its right side refers to columns of its left; the decorrelation pass
    removes lateral joins.
    """

    kind: JoinKind
    left: Relational
    right: Relational
    condition: Expression
    mark: Attribute | None = None

    def __post_init__(self) -> None:
        if (self.kind is JoinKind.MARK) != (self.mark is not None):
            raise PlanError("only a mark join has a mark")

    @property
    def is_lateral(self) -> bool:
        return bool(self.right.free & self.left.ids)

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        match self.kind:
            case JoinKind.INNER:
                return self.left.columns + self.right.columns
            case JoinKind.LEFT:
                return self.left.columns + as_nullable(self.right.columns)
            case JoinKind.FULL:
                return as_nullable(self.left.columns) + as_nullable(self.right.columns)
            case JoinKind.MARK:
                return (*self.left.columns, *((self.mark,) if self.mark else ()))
            case _:
                return self.left.columns


def as_nullable(columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns as nullable: an outer join may fill them with NULL."""
    return tuple(Attribute(c.id, c.name, c.type, True) for c in columns)


@dataclass(frozen=True)
class Aggregate(Relational):
    """One row per group of equal `keys` (NULL equals NULL); without keys, always exactly one row."""

    input: Relational
    keys: tuple[ColumnNumber, ...]
    items: tuple[AggregateItem, ...]

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return (*(self.input.attribute(key) for key in self.keys), *self.made)


@dataclass(frozen=True)
class Distinct(Widening):
    """Every row once; NULL equals NULL."""

    input: Relational


class SetKind(enum.Enum):
    """Over bags: counts are added, subtracted (never below zero), or the smaller count is taken."""

    UNION = "union all"
    EXCEPT = "except all"
    INTERSECT = "intersect all"


@dataclass(frozen=True)
class SetOp(Relational):
    """Rows of the left, with its columns `lefts` in order, combined with rows of the right, with `rights`."""

    kind: SetKind
    left: Relational
    right: Relational
    columns: tuple[Attribute, ...]
    lefts: tuple[ColumnNumber, ...]
    rights: tuple[ColumnNumber, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for attribute, left, right in zip(self.columns, self.lefts, self.rights, strict=True):
            types = {attribute.type, self.left.attribute(left).type, self.right.attribute(right).type}
            if len(types) != 1:
                raise PlanError(f"column {attribute.name} of {self.kind.value} has several types")
