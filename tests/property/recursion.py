"""Random recursive queries.

Those that PostgreSQL would take (linear, each name by itself) are plain terms, and DuckDB answers them.
The others (mutual, nonlinear, aggregates in the step, WITH MUTUALLY RECURSIVE) are a `Recursion`, whose
parts `fixpoint.py` iterates. Without a limit, steps make no new values but in a bounded depth column, or
run over an acyclic part of a graph; under a limit a body is any query at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.property.expressions import Scope
from tests.property.queries import Queries, nested
from tests.property.relations import Relation
from tests.property.terms import NOTHING, Term, listed, optional

# A recursive column has the widest type of its sort, so that a step never changes it.
WIDEST = {"int": "bigint", "text": "text", "bool": "boolean", "date": "date", "float": "double precision"}


@dataclass(frozen=True)
class Binding:
    """A recursive name, its columns with their SQL types, and the query that it is set to."""

    name: str
    columns: tuple[tuple[str, str], ...]
    body: Term


@dataclass(frozen=True)
class Recursion:
    """Bindings that may refer to each other; `explicit` is WITH MUTUALLY RECURSIVE, `limit` counts rounds."""

    bindings: tuple[Binding, ...]
    explicit: bool = False
    limit: int | None = None
    on_limit: str = "RETURN"

    def sql(self, dialect: str = "postgres") -> str:
        parts = []
        for binding in self.bindings:
            columns = ", ".join(f"{name} {kind}" if self.explicit else name for name, kind in binding.columns)
            parts.append(f"{binding.name}({columns}) AS ({binding.body.sql(dialect)})")
        limit = f"({self.on_limit} AT RECURSION LIMIT {self.limit}) " if self.limit else ""
        return f"WITH {'MUTUALLY ' if self.explicit else ''}RECURSIVE {limit}{', '.join(parts)}"


class Recursions(Queries):
    """Writes recursive queries, and lets linear ones into any FROM."""

    def primary(self, depth: int, outer: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        if depth > 1 and self.budget > 0 and self.rng.random() < 0.04:
            self.budget -= 1
            alias = self.name("t")
            query, sorts = self.linear(depth - 1)
            atoms = tuple(Term(sort, f"{alias}.c{i}") for i, sort in enumerate(sorts))
            return Term("from", f"({{}}) AS {alias}", (query,)), atoms
        return super().primary(depth, outer)

    # What DuckDB runs

    def linear(self, depth: int) -> tuple[Term, tuple[str, ...]]:
        """WITH RECURSIVE of one name that occurs once in its step."""
        relation = self.relation(lambda column: column[1] in WIDEST)
        sorts = self.recursive_sorts(relation)
        name = self.name("r")
        style = self.rng.choice(("closure", "closure", "depth", "acyclic"))
        if style == "depth":
            sorts = (*sorts, "int")
        operator = "UNION" if style == "closure" or self.rng.random() < 0.4 else "UNION ALL"
        base = self.base(sorts, style == "depth")
        step = self.step(name, sorts, style)
        columns = tuple((f"c{i}", sort) for i, sort in enumerate(sorts))
        body, found = self.over(Relation(name, columns), max(1, depth - 1))
        header = ", ".join(column for column, _ in columns)
        text = f"WITH RECURSIVE {name}({header}) AS (({{}}) {operator} ({{}})) {nested(body, self.name('t'))}"
        return Term(body.sort, text, (base, step, body)), found

    def relation(self, usable: Callable[[tuple[str, str]], bool]) -> Relation:
        """A relation with a usable column; the graph, which is the first, half of the time."""
        fitting = [each for each in self.relations if any(usable(column) for column in each.columns)]
        first = self.relations[0]
        return first if first in fitting and self.rng.random() < 0.5 else self.rng.choice(fitting)

    def recursive_sorts(self, relation: Relation) -> tuple[str, ...]:
        sorts = [sort for _, sort in relation.columns if sort in WIDEST]
        return tuple(self.rng.choice(sorts) for _ in range(self.rng.choice((1, 2, 2, 3))))

    def base(self, sorts: tuple[str, ...], counted: bool = False) -> Term:
        """A query whose columns are cast to the widest types; with `counted` the last is 0."""
        source, atoms = self.source(1, ())
        scope = Scope(atoms)
        where = optional(" WHERE {}", self.comparison(scope)) if self.rng.random() < 0.4 else NOTHING
        items = []
        for i, sort in enumerate(sorts):
            value = Term("int", "0") if counted and i == len(sorts) - 1 else self.leaf(sort, scope)
            items.append(Term("item", f"CAST({{}} AS {WIDEST[sort]}) AS c{i}", (value,)))
        query = f"query({','.join(sorts)})"
        return Term(query, "SELECT {} FROM {}{}", (listed("columns", tuple(items)), source, where))

    def step(self, name: str, sorts: tuple[str, ...], style: str) -> Term:
        """From the rows of `name` to their neighbours in a relation; columns are copied, a depth is counted.

        What makes the recursion end has the sort "guard": it is never made smaller.
        """
        alias, other = self.name("t"), self.name("t")
        own = tuple(Term(sort, f"{alias}.c{i}") for i, sort in enumerate(sorts))
        copied = own[:-1] if style == "depth" else own
        relation = self.relation(lambda column: any(column[1] == term.sort for term in copied))
        theirs = tuple(Term(sort, f"{other}.{column}") for column, sort in relation.columns)
        mine, yours = self.rng.choice([(a, b) for a in copied for b in theirs if a.sort == b.sort])
        values = [self.rng.choice([e for e in copied + theirs if e.sort == term.sort]) for term in copied]
        tests = [Term("guard" if style == "acyclic" else "bool", f"({mine.text} = {yours.text})")]
        if style == "acyclic":
            others = [each for each in theirs if each.sort == yours.sort and each is not yours]
            following = self.rng.choice(others or [yours])
            values[copied.index(mine)] = Term("guard", following.text)
            tests.append(Term("guard", f"({yours.text} < {following.text})"))
        if style == "depth":
            values.append(Term("guard", f"{own[-1].text} + 1"))
            tests.append(Term("guard", f"({own[-1].text} < {self.rng.randint(1, 3)})"))
        if self.rng.random() < 0.35:
            tests.append(self.expression("bool", Scope(own + theirs), 2))
        source = self.rng.choice(
            (
                f"{name} AS {alias} JOIN {relation.name} AS {other} ON",
                f"{relation.name} AS {other} JOIN {name} AS {alias} ON",
                f"{name} AS {alias}, {relation.name} AS {other} WHERE",
            )
        )
        parts = (listed("columns", items(values)), listed("tests", tuple(tests), " AND "))
        return Term(f"query({','.join(sorts)})", f"SELECT {{}} FROM {source} {{}}", parts)


def items(values: Sequence[Term]) -> tuple[Term, ...]:
    return tuple(Term("item", f"{{}} AS c{i}", (value,)) for i, value in enumerate(values))
