"""Random recursive queries that PostgreSQL would refuse: mutual, nonlinear, with aggregates in the step.

Their meaning is the fixed point of all bindings, which start empty and are updated round by round. Recursions
in recursions are in `sequences.py`.
"""

from __future__ import annotations

from tests.property.expressions import Scope
from tests.property.recursion import WIDEST, Binding, Recursion, Recursions, items
from tests.property.relations import Relation
from tests.property.terms import Term, listed


class Mutuals(Recursions):
    """Writes recursions that `fixpoint.py` answers, each with the query over its bindings."""

    def recursion(self) -> tuple[Recursion, Term, tuple[str, ...]]:
        self.budget = self.rng.choice((0, 1, 2))
        kinds = (self.mutual, self.nonlinear, self.shortest, self.limited, self.limited, self.grouped_walk)
        found = self.rng.choice(kinds)()
        known = len(self.relations)
        self.relations += [self.relation_of(binding) for binding in found.bindings]
        query, sorts = self.final(found)
        del self.relations[known:]
        return found, query, sorts

    def final(self, found: Recursion) -> tuple[Term, tuple[str, ...]]:
        """The query behind the bindings: all of one, or anything."""
        if self.rng.random() < 0.5:
            return self.query(2, (), None)
        relation = self.relation_of(self.rng.choice(found.bindings))
        columns = tuple(Term(sort, f"t.{name}") for name, sort in relation.columns)
        sorts = tuple(sort for _, sort in relation.columns)
        source = Term("from", f"{relation.name} AS t")
        return Term(
            f"query({','.join(sorts)})", "SELECT {} FROM {}", (listed("items", items(columns)), source)
        ), sorts

    def relation_of(self, binding: Binding) -> Relation:
        sorts = {kind: sort for sort, kind in WIDEST.items()}
        return Relation(binding.name, tuple((name, sorts[kind]) for name, kind in binding.columns))

    def binding(self, name: str, sorts: tuple[str, ...], body: Term) -> Binding:
        return Binding(name, tuple((f"c{i}", WIDEST[sort]) for i, sort in enumerate(sorts)), body)

    def union(self, sorts: tuple[str, ...], *parts: Term) -> Term:
        text = " UNION ".join("({})" for _ in parts)
        return Term(f"query({','.join(sorts)})", text, parts)

    def columns_of(self) -> tuple[str, ...]:
        return self.recursive_sorts(self.relation(lambda column: column[1] in WIDEST))

    # Kinds of recursion

    def mutual(self) -> Recursion:
        """Two or three names, each a base and a step from another; in either form."""
        sorts = self.columns_of()
        names = [self.name("r") for _ in range(self.rng.choice((2, 2, 3)))]
        explicit = self.rng.random() < 0.5
        bindings = []
        for i, name in enumerate(names):
            steps = [self.step(names[i - 1], sorts, "closure")]
            if self.rng.random() < 0.3:
                steps.append(self.step(self.rng.choice(names), sorts, "closure"))
            bindings.append(self.binding(name, sorts, self.union(sorts, self.base(sorts), *steps)))
        return Recursion(tuple(bindings), explicit)

    def nonlinear(self) -> Recursion:
        """Pairs of rows of the same name: transitive closure by doubling, and looser relatives of it."""
        sorts = self.columns_of()
        name = self.name("r")
        one, two = self.name("t"), self.name("t")
        left = tuple(Term(sort, f"{one}.c{i}") for i, sort in enumerate(sorts))
        right = tuple(Term(sort, f"{two}.c{i}") for i, sort in enumerate(sorts))
        pair = self.rng.choice([(a, b) for a in left for b in right if a.sort == b.sort])
        values = [self.rng.choice([each for each in left + right if each.sort == sort]) for sort in sorts]
        test = Term("bool", "({} = {})", pair)
        if self.rng.random() < 0.4:
            test = Term("bool", "({} AND {})", (test, self.expression("bool", Scope(left + right), 2)))
        step = Term(
            f"query({','.join(sorts)})",
            f"SELECT {{}} FROM {name} AS {one} JOIN {name} AS {two} ON {{}}",
            (listed("columns", items(values)), test),
        )
        body = self.union(sorts, self.base(sorts), step)
        return Recursion((self.binding(name, sorts, body),), self.rng.random() < 0.5)

    def shortest(self) -> Recursion:
        """Least distances from some nodes of the graph, by min in the step."""
        name, one, two = self.name("r"), self.name("t"), self.name("t")
        start = self.rng.choice(("0", "1", "2"))
        weight = self.rng.choice(
            ("1", f"abs({two}.w)", f"GREATEST({two}.w, 0)", f"COALESCE(abs({two}.w), 2)")
        )
        best = f"SELECT {two}.dst AS c0, CAST(min({one}.c1 + {weight}) AS bigint) AS c1"
        join = f" FROM {name} AS {one} JOIN edges AS {two} ON {one}.c0 = {two}.src"
        test = self.rng.choice(("", "", f" WHERE {two}.dst <> {start}", f" WHERE {one}.c1 < 6"))
        start_row = f"SELECT CAST({start} AS bigint) AS c0, CAST(0 AS bigint) AS c1"
        sorts = ("int", "int")
        step = Term("guard", f"{best}{join}{test} GROUP BY {two}.dst")
        body = self.union(sorts, Term("guard", start_row), step)
        if self.rng.random() < 0.4:
            least = "SELECT CAST(c0 AS bigint) AS c0, CAST(min(c1) AS bigint) AS c1"
            text = f"{least} FROM ({{}}) AS {self.name('t')} GROUP BY c0"
            body = Term(body.sort, text, (body,))
        return Recursion((self.binding(name, sorts, body),), self.rng.random() < 0.5)

    def grouped_walk(self) -> Recursion:
        """An aggregate over what is reached so far in one name, read by the other; it need not converge."""
        reach, tally = self.name("r"), self.name("r")
        one, two, three = self.name("t"), self.name("t"), self.name("t")
        base = self.base(("int",))
        step = Term(
            "query(int)",
            f"SELECT {{}} FROM {reach} AS {one} JOIN edges AS {two} ON {one}.c0 = {two}.src"
            f" LEFT JOIN {tally} AS {three} ON {three}.c0 = {one}.c0 WHERE {{}}",
            (
                listed("columns", items((Term("int", f"CAST({two}.dst AS bigint)"),))),
                Term("bool", f"(COALESCE({three}.c1, 0) < {self.rng.randint(1, 4)})"),
            ),
        )
        function = self.rng.choice(
            ("count(*)", f"count({two}.w)", f"count(DISTINCT {two}.dst)", f"max({two}.dst)")
        )
        groups = Term(
            "query(int,int)",
            f"SELECT {one}.c0 AS c0, CAST({function} AS bigint) AS c1"
            f" FROM {reach} AS {one} JOIN edges AS {two} ON {one}.c0 = {two}.src GROUP BY {one}.c0",
        )
        first = self.binding(reach, ("int",), self.union(("int",), base, step))
        return Recursion((first, self.binding(tally, ("int", "int"), groups)), self.rng.random() < 0.6)

    def limited(self) -> Recursion:
        """The explicit form with a limit of rounds: the bodies are any queries over all names."""
        count = self.rng.choice((1, 1, 2, 2, 3))
        names = [self.name("r") for _ in range(count)]
        shapes = [
            tuple(self.rng.choice(("int", "int", "text", "bool")) for _ in range(self.rng.randint(1, 2)))
            for _ in names
        ]
        known = len(self.relations)
        self.relations += [
            Relation(name, tuple((f"c{i}", sort) for i, sort in enumerate(sorts)))
            for name, sorts in zip(names, shapes, strict=True)
        ]
        bindings = tuple(
            self.binding(name, sorts, self.cast(self.any_body(sorts), sorts))
            for name, sorts in zip(names, shapes, strict=True)
        )
        del self.relations[known:]
        if self.rng.random() < 0.2:
            return Recursion(bindings, True, self.rng.randint(2, 6), "ERROR")
        return Recursion(bindings, True, self.rng.randint(1, 5))

    def any_body(self, sorts: tuple[str, ...]) -> Term:
        self.budget = max(self.budget, 1)
        query, _ = self.query(2, (), sorts)
        if self.rng.random() < 0.5:
            other = self.base(sorts)
            return Term(
                query.sort,
                f"({{}}) {self.rng.choice(('UNION', 'UNION ALL', 'EXCEPT'))} ({{}})",
                (query, other),
            )
        return query

    def cast(self, body: Term, sorts: tuple[str, ...]) -> Term:
        """The body with its columns cast to what the binding declares."""
        columns = ", ".join(f"CAST(c{i} AS {WIDEST[sort]}) AS c{i}" for i, sort in enumerate(sorts))
        return Term(body.sort, f"SELECT {columns} FROM ({{}}) AS {self.name('t')}", (body,))
