"""Columns that are equal in all rows of an inner join, and the conditions that follow.

    a = b AND b = c AND a > 5   →   a, b and c are equal; a > 5, b > 5 and c > 5

Only equalities that are never true for NULL count, so equal columns hold equal words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.plan.expressions import Call, ColumnRef, Literal, OneOf, Op
from planner.ir import Expression, children, references
from planner.ir.scalars import COMPARISONS, call, can_fail, inline

Ids = frozenset[int]


class Equalities:
    """Classes of equal columns. `rank` orders columns, and orders classes by their first columns."""

    def __init__(self, conjuncts: Iterable[Expression]) -> None:
        self.rank: Callable[[int], int] = int
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

    @property
    def classes(self) -> list[Ids]:
        return sorted(set(self.of.values()), key=lambda same: min(map(self.rank, same)))

    def within(self, ids: Ids) -> list[Expression]:
        """Conditions that the columns of one relation in one class are equal."""
        found: list[Expression] = []
        for same in self.classes:
            first, *others = sorted(same & ids, key=self.rank) or [0]
            found += [call(Op.EQ, self.columns[first], self.columns[other]) for other in others]
        return found

    def between(self, left: Ids, right: Ids) -> list[Expression]:
        """One equality for each class with columns of both sides; columns of one side are already equal."""
        shared = [same for same in self.classes if same & left and same & right]
        ends = [[min(same & side, key=self.rank) for side in (left, right)] for same in shared]
        return [call(Op.EQ, self.columns[a], self.columns[b]) for a, b in ends]

    def equated(self, left: Ids, right: Ids) -> tuple[Ids, Ids]:
        """The columns of either side that equal one of the other."""
        shared = [same for same in self.classes if same & left and same & right]
        every = frozenset().union(*shared)
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
            return any(isinstance(arg, Literal) for arg in args) and not any(map(children, args))
        case OneOf(arg=ColumnRef()):
            return True
        case _:
            return False
