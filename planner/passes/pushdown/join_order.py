"""Orders inner joins so that their intermediate results stay small.

The pass repeatedly joins the two parts that make the fewest rows: first along equalities with a key, which
let no side grow, then along any equality; it crosses only parts that nothing connects. The order in which a
query lists its relations matters only between relations of one form.

    t, u, v WHERE t.a = u.a AND u.a = v.a AND v.a > 5   →   each with a > 5, joined by two equalities

Contexts of subqueries that the conditions make unnecessary are removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from planner.ir import UNIT, Expression, Item, JoinKind, Project, Relational, ThetaJoin, references
from planner.ir.conditions import equality_of
from planner.ir.estimates import Size, joined_size, selectivity, size_of
from planner.ir.rewrite import identity
from planner.ir.scalars import conjoin
from planner.ir.signature import signature
from planner.ir.unique import Ids, equated, is_unique, joined_keys, unique_keys
from planner.passes.pushdown.alternatives import demanded
from planner.passes.pushdown.contexts import without_contexts
from planner.passes.pushdown.equalities import Equalities, is_equality

Push = Callable[[Relational, list[Expression]], Relational]


@dataclass(frozen=True)
class Parts:
    """Relations to join, the conjuncts over all their columns, and a function that filters one of them."""

    leaves: list[Relational]
    conjuncts: list[Expression]
    push: Push


def joined(parts: Parts) -> Relational:
    """The inner join of the parts, with all their columns."""
    columns = tuple(column for leaf in parts.leaves for column in leaf.columns)
    leaves, conjuncts, replaced = without_contexts(parts.leaves, parts.conjuncts)
    leaves = [leaf for leaf in leaves if leaf != UNIT] or [UNIT]
    equalities = Equalities(conjuncts)
    others = [part for part in (*conjuncts, *equalities.implied(conjuncts)) if not is_equality(part)]
    filtered = []
    for i, leaf in enumerate(leaves):
        own = [p for p in others if references(p) <= leaf.ids and (references(p) or i == 0)]
        others = [p for p in others if p not in own]
        demands = [d for p in others if (d := demanded(p, leaf.ids)) is not None]
        filtered.append(parts.push(leaf, [*own, *demands]))
    filtered.sort(key=signature)
    places = {column.id: i for i, column in enumerate(c for leaf in filtered for c in leaf.columns)}
    equalities.order_by(places.__getitem__)
    filtered = [_pushed(parts.push, leaf, equalities.within(leaf.ids)) for leaf in filtered]
    result = _Ordering(equalities, others).joined(filtered)
    if not replaced:
        return result
    items: list[Item] = [*identity(result.columns)]
    items += [(column, replaced[column.id]) for column in columns if column.id in replaced]
    return Project(result, tuple(items))


def _pushed(push: Push, leaf: Relational, predicates: list[Expression]) -> Relational:
    return push(leaf, predicates) if predicates else leaf


@dataclass(frozen=True, eq=False)
class _Part:
    """Relations that are already joined: their join, its keys and size, and the place of the first
    relation."""

    operator: Relational
    keys: tuple[Ids, ...]
    size: Size
    place: int


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two parts, the conjuncts on which they are joined, and their equal columns."""

    left: _Part
    right: _Part
    conjuncts: list[Expression]
    equal: tuple[Ids, Ids]

    @cached_property
    def size(self) -> Size:
        left, right = self.left, self.right
        size = joined_size(left.size, right.size, left.keys, right.keys, *self.equal)
        ids = left.operator.ids, right.operator.ids
        return size.filtered(selectivity(conjoin(p for p in self.conjuncts if not equality_of(p, *ids))))

    @cached_property
    def rank(self) -> tuple[int, float, int, int]:
        """The sort key: the smallest pair is joined first."""
        by_key = is_unique(self.left.keys, self.equal[0]) or is_unique(self.right.keys, self.equal[1])
        ids = self.left.operator.ids, self.right.operator.ids
        connected = by_key or any(equality_of(part, *ids) for part in self.conjuncts)
        return (0 if by_key else 1 if connected else 2, self.size.rows, self.left.place, self.right.place)

    def joined(self) -> _Part:
        left, right = self.left, self.right
        operator = ThetaJoin(JoinKind.INNER, left.operator, right.operator, conjoin(self.conjuncts))
        return _Part(operator, joined_keys(left.keys, right.keys, *self.equal), self.size, left.place)


class _Ordering:
    """Chooses the parts to join next, and the conjuncts to join them on."""

    def __init__(self, equalities: Equalities, conjuncts: list[Expression]) -> None:
        self.equalities = equalities
        self.conjuncts = conjuncts

    def joined(self, leaves: list[Relational]) -> Relational:
        parts = [_Part(leaf, unique_keys(leaf), size_of(leaf), i) for i, leaf in enumerate(leaves)]
        pairs = {frozenset(two): self._pair(*two) for two in combinations(parts, 2)}
        while len(parts) > 1:
            best = min(pairs.values(), key=lambda pair: pair.rank)
            self.conjuncts = [part for part in self.conjuncts if part not in best.conjuncts]
            gone = {best.left, best.right}
            new = best.joined()
            parts = sorted([new, *(part for part in parts if part not in gone)], key=lambda part: part.place)
            pairs = {two: pair for two, pair in pairs.items() if not two & gone}
            pairs |= {
                frozenset((new, part)): self._pair(*sorted((new, part), key=lambda part: part.place))
                for part in parts
                if part is not new
            }
        return parts[0].operator

    def _pair(self, left: _Part, right: _Part) -> _Pair:
        ids = left.operator.ids, right.operator.ids
        both = ids[0] | ids[1]
        others = [part for part in self.conjuncts if references(part) <= both]
        lefts, rights = self.equalities.equated(*ids)
        more_lefts, more_rights = equated(conjoin(others), *ids)
        conjuncts = [*self.equalities.between(*ids), *others]
        return _Pair(left, right, conjuncts, (lefts | more_lefts, rights | more_rights))
