"""An engine node with the attributes at its positions: the building blocks of every lowering.

Equal queries give equal nodes, whatever names they use: a computed column is named after its position, and a
column that is passed through keeps its name. A node has at least one column: if no column is needed, it is a
constant TRUE.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from engine.plan import expressions as scalar
from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import Clamp, Concat, Map, Negate, Node, Threshold
from engine.schema import BOOLEAN, Column, Schema
from planner.ir import Attribute, Expression
from planner.ir.scalars import TRUE, can_fail, conjoin, may_be_null, not_null_ids, rename, rewrite
from planner.lower.canonical import passing

_APART = 16  # filters that can fail, each of which sees only the rows that the one before has left
_FLAT = 64  # parts of a sum that is flattened
NOBODY = -1
"""The number of a position that no attribute names."""


@dataclass(frozen=True)
class Lowered:
    """Position i of `node` holds the attribute numbered `ids[i]`; `nullable[i]` says whether it may be NULL.

    `key` holds positions that tell rows apart, if the node certainly has no duplicate row.
    """

    node: Node
    ids: tuple[int, ...]
    nullable: tuple[bool, ...]
    key: frozenset[int] | None = None

    def position(self, id: int) -> int:
        return self.ids.index(id)

    def positions(self, ids: Iterable[int]) -> tuple[int, ...]:
        return tuple(self.position(id) for id in ids)

    def positional(self, expression: Expression) -> scalar.Expression:
        """The expression over positions instead of attributes."""
        names = {id: position for position, id in reversed(list(enumerate(self.ids)))}
        return rename(expression, names)  # type: ignore[return-value]


def lowered(node: Node, ids: tuple[int, ...], key: frozenset[int] | None = None) -> Lowered:
    return Lowered(node, ids, tuple(column.nullable for column in node.schema.columns), key)


def mapped(input: Lowered, values: Sequence[tuple[int, Expression]]) -> Lowered:
    """The given expressions over attributes, each under its number, as one Map that includes a Map below."""
    if not values:
        values = [(NOBODY, TRUE)]
    expressions = tuple(input.positional(value) for _, value in values)
    return computed(input, expressions, tuple(id for id, _ in values))


def computed(input: Lowered, expressions: tuple[scalar.Expression, ...], ids: tuple[int, ...]) -> Lowered:
    """The given expressions over positions."""
    known = {i: Attribute(i, "", e.type, input.nullable[i]) for i, e in enumerate(_references(input))}
    nullable = tuple(may_be_null(e, known) for e in expressions)
    key = _kept_key(input, expressions)
    node, expressions = _unmapped(input.node, expressions)
    if expressions == _references(lowered(node, ())):
        return Lowered(node, ids, nullable, key)
    columns = tuple(
        Column(_name(e, node, i), e.type, n)
        for i, (e, n) in enumerate(zip(expressions, nullable, strict=True))
    )
    return Lowered(Map(node, expressions, Schema(columns)), ids, nullable, key)


def with_keys(side: Lowered, keys: Sequence[Expression]) -> tuple[Lowered, list[int]]:
    """The side with its computed keys added as columns, and the positions of all keys."""
    wanted = [side.positional(key) for key in keys]
    columns = _references(side)
    added = [key for i, key in enumerate(wanted) if key not in columns and key not in wanted[:i]]
    if added:
        side = computed(side, (*columns, *added), (*side.ids, *(NOBODY for _ in added)))
    where = {key: position for position, key in reversed(list(enumerate((*columns, *added))))}
    return side, [where[key] for key in wanted]


def _kept_key(input: Lowered, expressions: tuple[scalar.Expression, ...]) -> frozenset[int] | None:
    """The key in the new positions, if all of it is passed through."""
    places = {e.index: i for i, e in reversed(list(enumerate(expressions))) if isinstance(e, ColumnRef)}
    if input.key is None or not input.key <= places.keys():
        return None
    return frozenset(places[position] for position in input.key)


def _references(input: Lowered) -> tuple[ColumnRef, ...]:
    return tuple(ColumnRef(i, type) for i, type in enumerate(input.node.schema.types))


def _unmapped(
    node: Node, expressions: tuple[scalar.Expression, ...]
) -> tuple[Node, tuple[scalar.Expression, ...]]:
    """The expressions with a Map below substituted into them, if that repeats no work."""
    if not isinstance(node, Map):
        return node, expressions
    inner = node.expressions
    uses = [e.index for outer in expressions for e in scalar.walk(outer) if isinstance(e, ColumnRef)]
    if any(uses.count(i) > 1 and not isinstance(inner[i], ColumnRef | Literal) for i in set(uses)):
        return node, expressions
    return node.input, tuple(_replaced(e, inner) for e in expressions)


def _replaced(expression: scalar.Expression, values: tuple[scalar.Expression, ...]) -> scalar.Expression:
    """The expression with each position replaced by its value."""
    result = rewrite(expression, lambda part: values[part.index] if isinstance(part, ColumnRef) else None)
    return result  # type: ignore[return-value]


def _name(expression: scalar.Expression, node: Node, position: int) -> str:
    return node.schema.names[expression.index] if isinstance(expression, ColumnRef) else f"c{position}"


def projected(input: Lowered, ids: Sequence[int]) -> Lowered:
    """Only the given attributes, in this order."""
    return taken(input, input.positions(ids))


def taken(input: Lowered, positions: Sequence[int]) -> Lowered:
    """Only the given positions, in this order."""
    if not positions:
        return mapped(input, ())
    references = _references(input)
    return computed(input, tuple(references[i] for i in positions), tuple(input.ids[i] for i in positions))


def filtered(input: Lowered, predicates: Iterable[Expression]) -> Lowered:
    """The rows for which all predicates are true; predicates that can fail are evaluated last, on the
    remaining rows, many of them together."""
    parts = [part for part in predicates if part != TRUE]
    safe = [part for part in parts if not can_fail(part)]
    failing = [[part] for part in parts if can_fail(part)]
    for group in (safe, *(failing if len(failing) <= _APART else [list(chain(*failing))])):
        if group:
            input = _filter(input, input.positional(conjoin(group)))
    return input


def _filter(input: Lowered, predicate: scalar.Expression) -> Lowered:
    """The filter, moved below a Map that only selects columns, so that filters of one table meet at the
    table."""
    held = not_null_ids(predicate)
    nullable = tuple(n and i not in held for i, n in enumerate(input.nullable))
    node = input.node
    if not isinstance(node, Map) or not all(isinstance(e, ColumnRef) for e in node.expressions):
        return replace(input, node=passing(node, predicate), nullable=nullable)
    chosen = node.expressions
    below = passing(node.input, _replaced(predicate, chosen))
    columns = zip(node.schema.columns, nullable, strict=True)
    schema = Schema(tuple(Column(c.name, c.type, n) for c, n in columns))
    return replace(input, node=Map(below, chosen, schema), nullable=nullable)


def not_null(input: Lowered, positions: Iterable[int]) -> Lowered:
    """The rows without NULL in the given positions."""
    wanted = sorted({p for p in positions if input.nullable[p]})
    if not wanted:
        return input
    types = input.node.schema.types
    tests = [Call(Op.NOT, (Call(Op.IS_NULL, (ColumnRef(p, types[p]),), BOOLEAN),), BOOLEAN) for p in wanted]
    return _filter(input, conjoin(tests))  # type: ignore[arg-type]


def distinct(input: Lowered) -> Lowered:
    """Every row once."""
    if input.key is not None:
        return input
    every = frozenset(range(len(input.ids)))
    return replace(input, node=Threshold(input.node, Clamp.DISTINCT), key=every)


def pairs_key(left: Lowered, right: Lowered, right_keys: tuple[int, ...]) -> frozenset[int] | None:
    """A key of the pairs of a join: the left's key, and the right's unless the join is on it."""
    if left.key is None or right.key is None:
        return None
    if right.key <= frozenset(right_keys):
        return left.key
    return left.key | {position + len(left.ids) for position in right.key}


def sum_of(parts: Sequence[Node]) -> Node:
    """The bag sum, with nested sums flattened; not those that would make it long, because a sum of a sum with
    itself doubles its parts."""
    size = sum(len(part.parts) if isinstance(part, Concat) else 1 for part in parts)
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, Concat) and size <= _FLAT else (part,)
    return flat[0] if len(flat) == 1 else Concat(tuple(flat))


def difference(left: Node, right: Node) -> Node:
    return sum_of((left, Negate(right)))
