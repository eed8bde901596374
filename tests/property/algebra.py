"""Queries whose meaning is told in plain Python: recursions in recursions, which DuckDB cannot be asked.

Every query returns two BIGINT columns, a and b. It has a text, and `rows` gives what it returns: a function
of the names in scope and of the rows of the queries around it, which are known by their aliases. Nothing here
knows of planner or engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

Value = int | None
Row = tuple[Value, Value]
Bag = Counter[Row]

MOST_ROWS = 80
MOST_ROUNDS = 20


class Diverges(Exception):
    """No fixed point was reached in a bearable number of rounds, rows or steps."""


class Unsettled(Exception):
    """A recursion still changes at a limit that is an error."""


@dataclass(frozen=True)
class Scope:
    """What a query may refer to, and how many steps are left; with `together` all bindings of a recursion
    read the round before, which is not what WITH MUTUALLY RECURSIVE means."""

    names: Mapping[str, Bag]
    outer: Mapping[str, Row] = field(default_factory=dict)
    steps: Iterator[int] = field(default_factory=lambda: iter(range(20_000)))
    together: bool = False

    def with_names(self, names: Mapping[str, Bag]) -> Scope:
        return replace(self, names={**self.names, **names})

    def with_row(self, alias: str, row: Row) -> Scope:
        return replace(self, outer={**self.outer, alias: row})


class Query:
    @property
    def sql(self) -> str:
        raise NotImplementedError

    @property
    def aliases(self) -> frozenset[str]:
        """The rows of queries around it that it refers to."""
        return frozenset()

    def value(self, scope: Scope) -> Bag:
        raise NotImplementedError

    def rows(self, scope: Scope) -> Bag:
        """What the query returns. Raises Diverges and Unsettled."""
        if next(scope.steps, None) is None:
            raise Diverges
        found = +self.value(scope)
        if found.total() > MOST_ROWS:
            raise Diverges
        return found


@dataclass(frozen=True)
class Name(Query):
    """A table or a recursive name."""

    name: str

    @property
    def sql(self) -> str:
        return f"SELECT a, b FROM {self.name}"

    def value(self, scope: Scope) -> Bag:
        return scope.names[self.name]


@dataclass(frozen=True)
class Outer(Query):
    """The row of a query around it."""

    alias: str

    @property
    def sql(self) -> str:
        return f"SELECT {self.alias}.a AS a, {self.alias}.b AS b"

    @property
    def aliases(self) -> frozenset[str]:
        return frozenset({self.alias})

    def value(self, scope: Scope) -> Bag:
        return Counter([scope.outer[self.alias]])


@dataclass(frozen=True)
class Unary(Query):
    """`text` over the rows of a query, and `each` of them: a row, or none."""

    text: str
    each: Callable[[Row], Row | None]
    input: Query

    @property
    def sql(self) -> str:
        return self.text.format(self.input.sql)

    @property
    def aliases(self) -> frozenset[str]:
        return self.input.aliases

    def value(self, scope: Scope) -> Bag:
        found: Bag = Counter()
        for row, count in self.input.rows(scope).items():
            made = self.each(row)
            if made is not None:
                found[made] += count
        return found


@dataclass(frozen=True)
class Whole(Query):
    """`text` over the rows of a query, and the same of all its rows together."""

    text: str
    all: Callable[[Bag], Bag]
    input: Query

    @property
    def sql(self) -> str:
        return self.text.format(self.input.sql)

    @property
    def aliases(self) -> frozenset[str]:
        return self.input.aliases

    def value(self, scope: Scope) -> Bag:
        return self.all(self.input.rows(scope))


@dataclass(frozen=True)
class Binary(Query):
    """`text` over the rows of two queries, and the same of both."""

    text: str
    both: Callable[[Bag, Bag], Bag]
    left: Query
    right: Query

    @property
    def sql(self) -> str:
        return self.text.format(self.left.sql, self.right.sql)

    @property
    def aliases(self) -> frozenset[str]:
        return self.left.aliases | self.right.aliases

    def value(self, scope: Scope) -> Bag:
        return self.both(self.left.rows(scope), self.right.rows(scope))


@dataclass(frozen=True)
class Correlated(Query):
    """`text` over the rows of a query and, for each of them, `joined` with what another one returns there."""

    text: str
    joined: Callable[[Row, Bag], Bag]
    input: Query
    alias: str
    inner: Query

    @property
    def sql(self) -> str:
        return self.text.format(self.input.sql, self.inner.sql, alias=self.alias)

    @property
    def aliases(self) -> frozenset[str]:
        return self.input.aliases | (self.inner.aliases - {self.alias})

    def value(self, scope: Scope) -> Bag:
        found: Bag = Counter()
        same = self.inner.rows(scope) if self.alias not in self.inner.aliases else None
        for row, count in self.input.rows(scope).items():
            inner = self.inner.rows(scope.with_row(self.alias, row)) if same is None else same
            for made, times in self.joined(row, inner).items():
                found[made] += count * times
        return found


@dataclass(frozen=True)
class Recursion(Query):
    """WITH MUTUALLY RECURSIVE: the bindings are updated one after another, round by round."""

    bindings: tuple[tuple[str, Query], ...]
    result: Query
    limit: int | None = None
    on_limit: str = "RETURN"

    @property
    def sql(self) -> str:
        limit = f"({self.on_limit} AT RECURSION LIMIT {self.limit}) " if self.limit else ""
        names = ", ".join(f"{name} (a BIGINT, b BIGINT) AS ({query.sql})" for name, query in self.bindings)
        return f"WITH MUTUALLY RECURSIVE {limit}{names} {self.result.sql}"

    @property
    def aliases(self) -> frozenset[str]:
        return self.result.aliases.union(*(query.aliases for _, query in self.bindings))

    def value(self, scope: Scope) -> Bag:
        now: dict[str, Bag] = {name: Counter() for name, _ in self.bindings}
        for number in range(1, MOST_ROUNDS + 1):
            before = now
            now = dict(before)
            for name, query in self.bindings:
                now[name] = query.rows(scope.with_names(before if scope.together else now))
            if now == before or (number == self.limit and self.on_limit == "RETURN"):
                return self.result.rows(scope.with_names(now))
            if number == self.limit:
                raise Unsettled
        raise Diverges
