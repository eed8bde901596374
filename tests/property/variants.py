"""Queries that say one thing in several ways: the rows of all are the same, whoever computes them.

- A query, and its rows for which a predicate is true, false or unknown, put together again.
- The same of groups, whose aggregates are combined.
- Rows that have a partner, by EXISTS, IN, a semi join, a join with what is distinct; those that have none.
"""

from __future__ import annotations

import random

from tests.property.expressions import SORTS, Scope
from tests.property.mutual import Mutuals
from tests.property.relations import Relation, columns_of, enumerated
from tests.property.schemas import Table
from tests.property.views import relation_of

Variants = tuple[str, ...]
_PARTS = ("{p}", "NOT {p}", "{p} IS NULL")
_HAVE = (
    "SELECT t1.* FROM {one} AS t1 WHERE EXISTS (SELECT 1 FROM {other} AS t2 WHERE t2.{b} = t1.{a})",
    "SELECT t1.* FROM {one} AS t1 WHERE t1.{a} IN (SELECT {b} FROM {other} AS t2)",
    "SELECT t1.* FROM {one} AS t1 SEMI JOIN {other} AS t2 ON t1.{a} = t2.{b}",
    "SELECT t1.* FROM {one} AS t1 JOIN (SELECT DISTINCT {b} FROM {other} AS t3) AS t2 ON t1.{a} = t2.{b}",
    "SELECT t1.* FROM {one} AS t1 WHERE t1.{a} = ANY (SELECT {b} FROM {other} AS t2)",
    "SELECT t1.* FROM {one} AS t1 WHERE (SELECT count(*) FROM {other} AS t2 WHERE t2.{b} = t1.{a}) > 0",
)
_HAVE_NOT = (
    "SELECT t1.* FROM {one} AS t1 WHERE NOT EXISTS (SELECT 1 FROM {other} AS t2 WHERE t2.{b} = t1.{a})",
    "SELECT t1.* FROM {one} AS t1 ANTI JOIN {other} AS t2 ON t1.{a} = t2.{b}",
    "SELECT t1.* FROM {one} AS t1 LEFT JOIN {other} AS t2 ON t1.{a} = t2.{b} WHERE t2.{b} IS NULL",
    "SELECT * FROM {one} EXCEPT ALL SELECT t1.* FROM {one} AS t1 WHERE t1.{a} IN (SELECT {b} FROM {other})",
)


class Writer:
    """Writes variants over tables."""

    def __init__(self, rng: random.Random, tables: tuple[Table, ...]) -> None:
        self.rng = rng
        self.relations = tuple(map(relation_of, tables))
        self.queries = Mutuals(rng, self.relations)
        self.queries.total = True

    def variants(self) -> Variants:
        return self.rng.choice((self.parts, self.parts, self.groups, self.partners))()

    def parts(self) -> Variants:
        """A query, and its three parts."""
        query, relation = self._query()
        predicate = self._predicate(relation)
        parts = (f"SELECT * FROM ({query}) AS q WHERE {part.format(p=predicate)}" for part in _PARTS)
        return f"SELECT * FROM ({query}) AS q", " UNION ALL ".join(parts)

    def groups(self) -> Variants:
        """Groups of a query, and those of its three parts combined."""
        query, relation = self._query()
        keys = [name for name, sort in relation.columns if sort in SORTS]
        key = self.rng.choice(keys) if keys else "1"
        added = [name for name, sort in relation.columns if sort in ("int", "numeric", "float")]
        value = self.rng.choice(added) if added else "1"
        partial = f"{key} AS k, count(*) AS n, sum({value}) AS s, min({value}) AS a, max({value}) AS z"
        predicate = self._predicate(relation)
        parts = " UNION ALL ".join(
            f"SELECT {partial} FROM ({query}) AS q WHERE {part.format(p=predicate)} GROUP BY {key}"
            for part in _PARTS
        )
        whole = f"SELECT {partial} FROM ({query}) AS q GROUP BY {key}"
        combined = "k, sum(n) AS n, sum(s) AS s, min(a) AS a, max(z) AS z"
        return whole, f"SELECT {combined} FROM ({parts}) AS p GROUP BY k"

    def partners(self) -> Variants:
        """Rows of a relation that have a partner in another, or that have none."""
        pairs = [
            (one.name, a, other.name, b)
            for one in self.relations
            for other in self.relations
            for a, sort in one.columns
            for b, as_well in other.columns
            if sort == as_well and sort in SORTS
        ]
        one, a, other, b = self.rng.choice(pairs)
        texts = self.rng.choice((_HAVE, _HAVE_NOT))
        return tuple(text.format(one=one, a=a, other=other, b=b) for text in texts)

    def _query(self) -> tuple[str, Relation]:
        query, sorts = self.queries.statement(2)
        return query.sql(), Relation("q", enumerated(sorts))

    def _predicate(self, relation: Relation) -> str:
        scope = Scope(columns_of("q", relation.columns))
        self.queries.budget = self.rng.choice((0, 0, 1))
        return f"({self.queries.expression('bool', scope, 2).sql()})"
