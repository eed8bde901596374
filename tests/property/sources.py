"""Random FROM clauses: relations, subqueries, values, series, and joins of every kind."""

from __future__ import annotations

import random
from abc import abstractmethod

from tests.property.called import ROWS_CALL
from tests.property.expressions import SORTS, Scope
from tests.property.groups import Groups
from tests.property.places import placed
from tests.property.relations import Relation, columns_of, enumerated, qualified, together
from tests.property.terms import Term, listed
from tests.property.timed import nearest_row, windowed_rows


class Sources(Groups):
    """Writes FROM clauses over `relations`, which grows and shrinks as CTEs come into scope and go."""

    def __init__(self, rng: random.Random, relations: tuple[Relation, ...]) -> None:
        super().__init__(rng)
        self.relations = list(relations)
        self.budget = 0  # subqueries that the statement may still have
        self.wanted: Relation | None = None  # what the next FROM should name
        self.total = False  # orders leave no ties
        self._names = 0

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    @abstractmethod
    def query(
        self, depth: int, outer: tuple[Term, ...], sorts: tuple[str, ...] | None, loose: bool = False
    ) -> tuple[Term, tuple[str, ...]]:
        """A query with columns of `sorts`, or of any; `loose`: "approx" columns may be among them."""

    @abstractmethod
    def select(
        self, depth: int, outer: tuple[Term, ...], sorts: tuple[str, ...] | None, loose: bool = False
    ) -> tuple[Term, tuple[str, ...]]:
        """A query that is one SELECT."""

    def item(self, sort: str, scope: Scope, depth: int) -> Term:
        term = self.expression(sort, scope, depth)
        if not term.parts and term.text.startswith("'"):
            return Term(sort, f"CAST({term.text} AS text)")  # a bare literal has no type of its own yet
        return term

    def source(self, depth: int, outer: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        if self.rng.random() < 0.06:
            return self.joined_by_equalities(depth, outer)
        term, atoms = self.primary(depth, outer)
        joins = self.rng.choice((0, 0, 0, 1, 1, 1, 2)) if depth > 1 else self.rng.choice((0, 0, 1))
        for _ in range(joins):
            term, atoms = self.join(term, atoms, depth, outer)
        if self.rng.random() < 0.08:  # at the end: a comma binds less than JOIN
            other, more = self.primary(depth - 1, outer)
            return Term("from", "{}, {}", (term, other)), together(atoms, more)
        return term, atoms

    def primary(self, depth: int, outer: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        """A named relation, a subquery or a list of values."""
        alias = self.name("t")
        draw = self.rng.random()
        if self.wanted is not None:
            relation, self.wanted = self.wanted, None
            return Term("from", f"{relation.name} AS {alias}"), columns_of(alias, relation.columns)
        if depth > 1 and draw < 0.2 and self.budget > 0:
            self.budget -= 1
            query, sorts = self.query(depth - 1, (), None)
            return Term("from", f"({{}}) AS {alias}", (query,)), columns_of(alias, enumerated(sorts))
        if draw > 0.97:
            return self.values(alias)
        if 0.9 < draw < 0.95:
            found = windowed_rows(self.rng, self.relations, alias)
            if found is not None:
                return found
        if draw > 0.96:
            return Term("from", f"generate_series(1, 3) AS {alias}(c0)"), (Term("int", f"{alias}.c0"),)
        recent = self.relations[-2:] if self.rng.random() < 0.4 else self.relations
        relation = self.rng.choice(recent)
        return Term("from", f"{relation.name} AS {alias}"), columns_of(alias, relation.columns)

    def values(self, alias: str) -> tuple[Term, tuple[Term, ...]]:
        sorts = tuple(self.rng.choice(("int", "text")) for _ in range(self.rng.randint(1, 2)))
        names = ", ".join(f"c{i}" for i in range(len(sorts)))
        rows = tuple(
            Term("row", f"({', '.join('{}' for _ in sorts)})", tuple(self.literal(sort) for sort in sorts))
            for _ in range(self.rng.randint(1, 3))
        )
        term = Term("from", f"(VALUES {{}}) AS {alias}({names})", (listed("rows", rows),))
        return term, columns_of(alias, enumerated(sorts))

    def join(
        self, left: Term, atoms: tuple[Term, ...], depth: int, outer: tuple[Term, ...]
    ) -> tuple[Term, tuple[Term, ...]]:
        draw = self.rng.random()
        if draw < 0.12:
            return self.using(left, atoms)
        if draw < 0.20 and depth > 1 and self.budget > 0:
            return self.lateral(left, atoms, depth, outer)
        if draw < 0.24:
            return self.halved(left, atoms, depth)
        if draw < 0.26:
            return self.series(left, atoms)
        if draw < 0.29:
            alias = self.name("t")
            found = nearest_row(self.rng, left, atoms, self.rng.choice(self.relations), alias)
            if found is not None:
                return found
        numbers = [atom for atom in atoms if atom.sort == "int"]
        if draw > 0.985 and numbers:
            return self.called_rows(left, atoms, self.rng.choice(numbers))
        right, others = self.primary(depth - 1, outer)
        if draw < 0.34:
            return Term("from", "{} CROSS JOIN {}", (left, right)), together(atoms, others)
        kind = self.rng.choice(
            ("JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
        )
        both = together(atoms, others)
        condition = self.join_condition(tuple(atom for atom in atoms if atom in both), others)
        return Term("from", f"{{}} {kind} {{}} ON {{}}", (left, right, condition)), both

    def called_rows(
        self, left: Term, atoms: tuple[Term, ...], argument: Term
    ) -> tuple[Term, tuple[Term, ...]]:
        """The rows of a function for each row."""
        alias = self.name("t")
        ours, theirs = (text.format(alias=alias) for text in ROWS_CALL)
        columns = (Term("int", f"{alias}.c0"), Term("numeric", f"{alias}.c1"))
        return Term("from", ours, (left, argument), theirs), together(atoms, columns)

    def joined_by_equalities(self, depth: int, outer: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        """Inner joins of three or four relations, each equal to the one before it, and often to the first one
        too, which closes a cycle."""
        term, first = self.primary(depth - 1, outer)
        atoms = last = first
        for _ in range(self.rng.choice((2, 2, 3))):
            right, others = self.primary(depth - 1, outer)
            pairs = [(a, b) for a in last for b in others if a.sort == b.sort and a.sort in SORTS]
            closing = [(a, b) for a in first for b in others if a.sort == b.sort and a.sort in SORTS]
            atoms, last = together(atoms, others), others
            if not pairs:
                term = Term("from", "{} CROSS JOIN {}", (term, right))
                continue
            condition = Term("bool", "({} = {})", self.rng.choice(pairs))
            if closing and self.rng.random() < 0.6:
                operator = self.rng.choice(("=", "=", "=", "IS NOT DISTINCT FROM", "<="))
                more = Term("bool", f"({{}} {operator} {{}})", self.rng.choice(closing))
                condition = Term("bool", "({} AND {})", (condition, more))
            term = Term("from", "{} JOIN {} ON {}", (term, right, condition))
        return term, atoms

    def join_condition(self, left: tuple[Term, ...], right: tuple[Term, ...]) -> Term:
        pairs = [(a, b) for a in left for b in right if a.sort == b.sort and a.sort in (*SORTS, "wild")]
        if not pairs or self.rng.random() < 0.12:
            return self.expression("bool", Scope(left + right), 1)
        operator = (
            "=" if self.rng.random() < 0.85 else self.rng.choice(("<", "<>", ">=", "IS NOT DISTINCT FROM"))
        )
        condition = Term("bool", f"({{}} {operator} {{}})", self.rng.choice(pairs))
        while self.rng.random() < 0.3:
            more = (
                Term("bool", "({} = {})", self.rng.choice(pairs))
                if self.rng.random() < 0.4
                else self.expression("bool", Scope(left + right), 1)
            )
            condition = Term("bool", "({} AND {})", (condition, more))
        return condition

    def using(self, left: Term, atoms: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        """A join of the whole left side with a relation on column names that both have."""
        alias = self.name("t")
        named: dict[str, list[Term]] = {}
        for atom in atoms:
            named.setdefault(atom.text.split(".")[-1], []).append(atom)
        options = [
            (relation, common)
            for relation in self.relations
            if (common := {c: sort for c, sort in relation.columns if c in named})
            and any(_is_common(named[column], sort) for column, sort in common.items())
        ]
        if not options:
            relation = self.rng.choice(self.relations)
            right = Term("from", f"{relation.name} AS {alias}")
            return Term("from", "{} CROSS JOIN {}", (left, right)), together(
                atoms, columns_of(alias, relation.columns)
            )
        relation, common = self.rng.choice(options)
        right = Term("from", f"{relation.name} AS {alias}")
        kind = self.rng.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        usable = [column for column, sort in common.items() if _is_common(named[column], sort)]
        if len(usable) == len(common) and self.rng.random() < 0.3:
            text = f"{{}} NATURAL {kind} {{}}"
        else:
            usable = self.rng.sample(usable, self.rng.randint(1, min(2, len(usable))))
            text = f"{{}} {kind} {{}} USING ({', '.join(usable)})"
        merged = tuple(Term(common[column], column) for column in usable)
        kept = tuple(atom for atom in atoms if atom.text.split(".")[-1] not in usable)
        others = columns_of(alias, tuple(each for each in relation.columns if each[0] not in usable))
        return Term("from", text, (left, right)), (*merged, *together(kept, others))

    def halved(self, left: Term, atoms: tuple[Term, ...], depth: int) -> tuple[Term, tuple[Term, ...]]:
        """A semi or anti join: rows of the left side alone."""
        right, others = self.primary(depth - 1, ())
        both = together(atoms, others)
        condition = self.join_condition(tuple(atom for atom in atoms if atom in both), others)
        kind = self.rng.choice(("SEMI", "ANTI"))
        return Term("from", f"{{}} {kind} JOIN {{}} ON {{}}", (left, right, condition)), atoms

    def series(self, left: Term, atoms: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        """A series of numbers, or the elements of a list, for each row."""
        alias = self.name("t")
        lists = [atom for atom in atoms if atom.sort == "list"]
        if lists and self.rng.random() < 0.7:
            text = f"{{}} CROSS JOIN LATERAL unnest({{}}) AS {alias}(c0)"
            duck = f"{{}} CROSS JOIN LATERAL (SELECT unnest({{}}) AS c0) AS {alias}"
            parts = (left, self.rng.choice(lists))
            return Term("from", text, parts, duck), together(atoms, (Term("int", f"{alias}.c0"),))
        numbers = [atom for atom in atoms if atom.sort == "int"] or [self.literal("int")]
        last = Term("int", "LEAST({}, 5)", (self.rng.choice(numbers),))
        text = f"{{}} CROSS JOIN LATERAL generate_series(0, {{}}) AS {alias}(c0)"
        duck = f"{{}} CROSS JOIN LATERAL (SELECT unnest(generate_series(0, {{}})) AS c0) AS {alias}"
        return Term("from", text, (left, last), duck), together(atoms, (Term("int", f"{alias}.c0"),))

    def lateral(
        self, left: Term, atoms: tuple[Term, ...], depth: int, outer: tuple[Term, ...]
    ) -> tuple[Term, tuple[Term, ...]]:
        self.budget -= 1
        alias = self.name("t")
        query, sorts = self.select(1, qualified(atoms) + outer, None)
        if self.rng.random() < 0.3:
            query = placed(self.rng, query, sorts, self.name("t"), self.total)
        text = (
            self.rng.choice(("{} CROSS JOIN LATERAL ({}) AS %s", "{} LEFT JOIN LATERAL ({}) AS %s ON TRUE"))
            % alias
        )
        return Term("from", text, (left, query)), together(atoms, columns_of(alias, enumerated(sorts)))


def _is_common(candidates: list[Term], sort: str) -> bool:
    """Whether a join may be on the column: there is one of its name, and of a sort that compares exactly."""
    return len(candidates) == 1 and candidates[0].sort == sort and sort in SORTS
