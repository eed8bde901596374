"""Views: a random query with a name, and what the referee says of it."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from tests.property.duck import MOST_ROWS, Answer, Failure, Referee
from tests.property.expressions import sort_of
from tests.property.fixpoint import Diverges, iterate
from tests.property.mutual import Mutuals
from tests.property.recursion import Recursion
from tests.property.relations import Relation
from tests.property.schemas import Table
from tests.property.terms import Term


@dataclass(frozen=True)
class View:
    """`query` under a name; with a `recursion` before it that only a fixed point answers.

    `fragile`: it has forms that can fail for a row, so what fails may depend on the order of evaluation.
    """

    name: str
    query: Term
    sorts: tuple[str, ...]
    recursion: Recursion | None = None
    fragile: bool = False
    dialect: str = "postgres"

    def sql(self, dialect: str = "postgres") -> str:
        query = self.query.sql(dialect)
        if self.recursion is None:
            return query
        query = f"SELECT * FROM ({query}) AS q" if query.startswith("WITH") else query
        return f"{self.recursion.sql(dialect)} {query}"

    @property
    def reads(self) -> set[str]:
        """The views that this one reads."""
        return set(re.findall(r"\bv\d+\b", self.sql()))

    def _reads_recursion(self) -> bool:
        """Whether the query reads a binding: a recursion that nobody reads cannot fail."""
        text = self.query.sql()
        names = [binding.name for binding in self.recursion.bindings] if self.recursion else []
        return any(re.search(rf"\b{name}\b", text) for name in names)

    @property
    def relation(self) -> Relation:
        return Relation(self.name, tuple((f"c{i}", sort) for i, sort in enumerate(self.sorts)))

    def answer(self, referee: Referee, keep: bool = True) -> Answer:
        """What the view holds over the referee's tables; with `keep`, left behind as a table.

        Raises Invalid and Diverges.
        """
        if self.recursion is not None and self._reads_recursion():
            failure = iterate(referee, self.recursion)
            if failure is not None:
                return failure
        query = self.query.sql("duckdb")
        answer = referee.keep(self.name, query) if keep else referee.answer(query)
        if not isinstance(answer, Failure) and answer.total() > MOST_ROWS:
            raise Diverges(f"{answer.total()} rows")
        return answer


def relation_of(table: Table) -> Relation:
    columns = tuple((c.name, sort_of(c.type, table.special)) for c in table.schema.columns)
    return Relation(table.name, columns)


def random_view(rng: random.Random, name: str, tables: tuple[Table, ...], views: tuple[View, ...]) -> View:
    """A view over tables and earlier views; fragile also where it reads what is fragile."""
    view = _random_view(rng, name, tables, views)
    extreme = any(table.extreme and re.search(rf"\b{table.name}\b", view.sql()) for table in tables)
    fragile = extreme or any(other.fragile for other in views if other.name in view.reads)
    return replace(view, fragile=True) if fragile else view


def _random_view(rng: random.Random, name: str, tables: tuple[Table, ...], views: tuple[View, ...]) -> View:
    relations = tuple(relation_of(table) for table in tables)
    if views and rng.random() < 0.5:
        relations += tuple(view.relation for view in rng.sample(views, min(len(views), 2)))
    writer = Mutuals(rng, relations)
    draw = rng.random()
    if draw < 0.12:
        recursion, query, sorts = writer.recursion()
        return View(name, query, sorts, recursion)
    if draw < 0.26:
        writer.budget = rng.choice((0, 1, 2))
        query, sorts = writer.linear(2)
        return View(name, query, sorts)
    writer.risky = rng.random() < 0.05
    query, sorts = writer.statement()
    return View(name, query, sorts, None, writer.risky)
