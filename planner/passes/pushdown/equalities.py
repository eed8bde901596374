"""Columns that are equal in all rows of an inner join, and the conditions that follow.

    a = b AND b = c AND a > 5   →   a, b and c are equal; a > 5, b > 5 and c > 5

Only equalities that are never true for NULL count, so equal columns hold equal words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.plan.expressions import Call, ColumnRef, Literal, OneOf, Op, Parameter
from planner.ir import Expression, children, references
from planner.ir.scalars import COMPARISONS, call, can_fail, inline

Ids = frozenset[int]


class Equalities:
    """Classes of equal columns. `order_by` gives the order of columns; classes stand in that of their first
    ones."""

    def __init__(self, conjuncts: Iterable[Expression]) -> None:
        self.rank: Callable[[int], int] = int
        self.firsts: dict[Ids, int] = {}
        self.columns: dict[int, ColumnRef] = {}
        self.of: dict[int, Ids] = {}
        for part in conjuncts:
            if is_equality(part):
                columns = {e.index: e for e in children(part) if isinstance(e, ColumnRef)}
                self.columns |= columns
                merged = frozenset().union(*map(self._class, columns))
                self.of |= dict.fromkeys(merged, merged)

    def _class(self, id: int) -> Ids:
        return self.of.get(id, frozenset({id}))

    def order_by(self, rank: Callable[[int], int]) -> None:
        """Use another order of columns."""
        self.rank = rank
        self.firsts = {same: min(map(rank, same)) for same in set(self.of.values())}

    def _touching(self, ids: Ids) -> list[Ids]:
        """The classes with columns among `ids`, in order."""
        return sorted({self.of[id] for id in ids if id in self.of}, key=self.firsts.__getitem__)

    def _shared(self, left: Ids, right: Ids) -> list[Ids]:
        """The classes with columns of both sides, in order."""
        less, more = (left, right) if len(left) <= len(right) else (right, left)
        return [same for same in self._touching(less) if not same.isdisjoint(more)]

    def within(self, ids: Ids) -> list[Expression]:
        """Conditions that the columns of one relation in one class are equal."""
        found: list[Expression] = []
        for same in self._touching(ids):
            first, *others = sorted(same & ids, key=self.rank) or [0]
            found += [call(Op.EQ, self.columns[first], self.columns[other]) for other in others]
        return found

    def between(self, left: Ids, right: Ids) -> list[Expression]:
        """One equality for each class with columns of both sides; columns of one side are already equal."""
        shared = self._shared(left, right)
        ends = [[min(same & side, key=self.rank) for side in (left, right)] for same in shared]
        return [call(Op.EQ, self.columns[a], self.columns[b]) for a, b in ends]

    def equated(self, left: Ids, right: Ids) -> tuple[Ids, Ids]:
        """The columns of either side that equal one of the other."""
        every = frozenset().union(*self._shared(left, right))
        return every & left, every & right

    def implied(self, conjuncts: list[Expression]) -> list[Expression]:
        """The comparisons with constants that follow for equal columns."""
        found: list[Expression] = []
        for part in conjuncts:
            used = references(part)
            if len(used) != 1 or not _is_comparison(part) or can_fail(part):
                continue
            (id,) = used
            for other in sorted(self._class(id) - used, key=self.rank):
                new = inline(part, {id: self.columns[other]})
                if new not in conjuncts and new not in found:
                    found.append(new)
        return found


def is_equality(part: Expression) -> bool:
    """Whether the conjunct says that two columns of one type are equal."""
    match part:
        case Call(op=Op.EQ, args=(ColumnRef(index=a, type=left), ColumnRef(index=b, type=right))):
            return a != b and left == right
    return False


def _is_comparison(part: Expression) -> bool:
    """Whether the part compares columns with constants, possibly combined by AND or OR."""
    match part:
        case Call(op=Op.AND | Op.OR, args=args):
            return all(_is_comparison(arg) for arg in args)
        case Call(op=op, args=args) if op in COMPARISONS:
            return any(isinstance(arg, Literal | Parameter) for arg in args) and not any(map(children, args))
        case OneOf(arg=ColumnRef()):
            return True
        case _:
            return False
