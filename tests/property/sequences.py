"""Random WITH MUTUALLY RECURSIVE in the algebra: several bindings, in each other, correlated, with limits.

Values do not grow beyond a few, so that most recursions come to rest; those that do not mostly have a limit.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial

from tests.property.algebra import (
    Bag,
    Binary,
    Correlated,
    Name,
    Outer,
    Query,
    Recursion,
    Row,
    Unary,
    Value,
    Whole,
)

TABLES = ("e", "t")


def _stepped(value: Value) -> Value:
    return value + 1 if value is not None and value < 3 else 0


def _below(most: int, row: Row) -> Row | None:
    return row if row[0] is not None and row[0] < most else None


def _swapped(row: Row) -> Row | None:
    return row[1], row[0]


def _next(row: Row) -> Row | None:
    return row[0], _stepped(row[1])


UNARY: list[tuple[str, Callable[[Row], Row | None]]] = [
    ("SELECT x.b AS a, x.a AS b FROM ({}) AS x", _swapped),
    ("SELECT x.a AS a, CASE WHEN x.b < 3 THEN x.b + 1 ELSE 0 END AS b FROM ({}) AS x", _next),
    ("SELECT x.a AS a, x.b AS b FROM ({}) AS x WHERE x.a < 2", partial(_below, 2)),
]


def _grouped(function: Callable[[list[int]], Value], bag: Bag) -> Bag:
    groups: dict[Value, list[int]] = {}
    for (a, b), count in bag.items():
        groups.setdefault(a, []).extend([b] * count if b is not None else [])
    return Counter((a, function(values)) for a, values in groups.items())


def _least(values: list[int]) -> Value:
    return min(values, default=None)


def _most(values: list[int]) -> Value:
    return max(values, default=None)


def _parity(values: list[int]) -> Value:
    return len(values) % 3


def _total(bag: Bag) -> Bag:
    return Counter([(0, bag.total() % 4)])


WHOLE: list[tuple[str, Callable[[Bag], Bag]]] = [
    ("SELECT x.a AS a, min(x.b) AS b FROM ({}) AS x GROUP BY x.a", partial(_grouped, _least)),
    ("SELECT x.a AS a, max(x.b) AS b FROM ({}) AS x GROUP BY x.a", partial(_grouped, _most)),
    ("SELECT x.a AS a, count(x.b) % 3 AS b FROM ({}) AS x GROUP BY x.a", partial(_grouped, _parity)),
    ("SELECT CAST(0 AS BIGINT) AS a, count(*) % 4 AS b FROM ({}) AS x", _total),
]


def _joined(padded: bool, left: Bag, right: Bag) -> Bag:
    found: Bag = Counter()
    for (a, b), count in left.items():
        pairs = [(other[1], times) for other, times in right.items() if b is not None and other[0] == b]
        for value, times in pairs or ([(None, 1)] if padded else []):
            found[a, value] += count * times
    return found


def _matching(wanted: bool, left: Bag, right: Bag) -> Bag:
    known = {a for a, _ in right if a is not None}
    return Counter({row: count for row, count in left.items() if (row[1] in known) == wanted})


def _union(left: Bag, right: Bag) -> Bag:
    return Counter(set(left) | set(right))


def _except(left: Bag, right: Bag) -> Bag:
    return Counter(set(left) - set(right))


def _intersect(left: Bag, right: Bag) -> Bag:
    return Counter(set(left) & set(right))


_EXISTS = (
    "SELECT x.a AS a, x.b AS b FROM ({{}}) AS x WHERE {}EXISTS (SELECT 1 FROM ({{}}) AS y WHERE y.a = x.b)"
)
BINARY: list[tuple[str, Callable[[Bag, Bag], Bag]]] = [
    ("SELECT x.a AS a, y.b AS b FROM ({}) AS x JOIN ({}) AS y ON x.b = y.a", partial(_joined, False)),
    ("SELECT x.a AS a, y.b AS b FROM ({}) AS x LEFT JOIN ({}) AS y ON x.b = y.a", partial(_joined, True)),
    (_EXISTS.format(""), partial(_matching, True)),
    (_EXISTS.format("NOT "), partial(_matching, False)),
    ("({}) UNION ALL ({})", Counter.__add__),
    ("({}) UNION ({})", _union),
    ("({}) UNION ({})", _union),
    ("({}) EXCEPT ALL ({})", Counter.__sub__),
    ("({}) EXCEPT ({})", _except),
    ("({}) INTERSECT ({})", _intersect),
]


def _beside(row: Row, inner: Bag) -> Bag:
    found: Bag = Counter()
    for (_, b), count in inner.items():
        found[row[0], b] += count
    return found


def _greatest(row: Row, inner: Bag) -> Bag:
    return Counter([(row[0], max((b for _, b in inner if b is not None), default=None))])


def _counted(row: Row, inner: Bag) -> Bag:
    return Counter([(row[1], inner.total() % 4)])


CORRELATED: list[tuple[str, Callable[[Row, Bag], Bag]]] = [
    ("SELECT {alias}.a AS a, y.b AS b FROM ({0}) AS {alias}, LATERAL ({1}) AS y", _beside),
    ("SELECT {alias}.a AS a, (SELECT max(y.b) FROM ({1}) AS y) AS b FROM ({0}) AS {alias}", _greatest),
    ("SELECT {alias}.b AS a, (SELECT count(*) % 4 FROM ({1}) AS y) AS b FROM ({0}) AS {alias}", _counted),
]


class Sequences:
    """Writes queries; names and aliases are given once."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.given = 0

    def view(self) -> Recursion:
        """A recursion over the tables; one that may fail at its limit shows a binding as it is."""
        found = self.recursion(TABLES, (), 2)
        if self.rng.random() < 0.2:
            shown = Name(self.rng.choice(found.bindings)[0])
            return Recursion(found.bindings, shown, self.rng.randint(2, 6), "ERROR")
        return found

    def recursion(self, names: tuple[str, ...], aliases: tuple[str, ...], nesting: int) -> Recursion:
        """`nesting`: how many recursions it may be deep."""
        own = tuple(self._new("r") for _ in range(self.rng.choice((1, 2, 2, 3, 3))))
        # The recursion's own names come more often than those around it.
        scope = (*names, *own, *own)
        bindings = tuple((name, self.body(scope, aliases, nesting - 1)) for name in own)
        result = Name(self.rng.choice(own)) if self.rng.random() < 0.6 else self.query(scope, aliases, 1, 0)
        limit = self.rng.choice((None, None, 1, 2, 3))
        return Recursion(bindings, result, limit)

    def body(self, names: tuple[str, ...], aliases: tuple[str, ...], nesting: int) -> Query:
        """A binding's query; half of them begin with rows from outside of the recursion."""
        query = self.query(names, aliases, self.rng.choice((1, 2, 2, 3)), nesting)
        if self.rng.random() < 0.5:
            return query
        start = Outer(self.rng.choice(aliases)) if aliases else Name(self.rng.choice(TABLES))
        text, meaning = self.rng.choice(BINARY[4:8])
        return Binary(text, meaning, start, query)

    def query(self, names: tuple[str, ...], aliases: tuple[str, ...], depth: int, nesting: int) -> Query:
        if depth == 0:
            if aliases and self.rng.random() < 0.3:
                return Outer(self.rng.choice(aliases))
            return Name(self.rng.choice(names))
        draw = self.rng.random()
        if nesting and draw < 0.2:
            return self.recursion(names, aliases, nesting)
        if draw < 0.35:
            return self._correlated(names, aliases, depth, nesting)
        if draw < 0.7:
            text, meaning = self.rng.choice(BINARY)
            sides = (self.query(names, aliases, depth - 1, nesting) for _ in range(2))
            return Binary(text, meaning, *sides)
        if draw < 0.85:
            return Unary(*self.rng.choice(UNARY), self.query(names, aliases, depth - 1, nesting))
        return Whole(*self.rng.choice(WHOLE), self.query(names, aliases, depth - 1, nesting))

    def _correlated(
        self, names: tuple[str, ...], aliases: tuple[str, ...], depth: int, nesting: int
    ) -> Query:
        alias = self._new("o")
        text, meaning = self.rng.choice(CORRELATED)
        outer = self.query(names, aliases, depth - 1, 0)
        within = (*aliases, alias, alias)
        if nesting and self.rng.random() < 0.7:
            return Correlated(text, meaning, outer, alias, self.recursion(names, within, nesting))
        return Correlated(text, meaning, outer, alias, self.query(names, within, depth - 1, nesting))

    def _new(self, prefix: str) -> str:
        self.given += 1
        return f"{prefix}{self.given}"
