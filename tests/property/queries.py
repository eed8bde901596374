"""Random queries: SELECT in all its clauses, joins, groups, set operations, CTEs and subqueries.

`Queries.query` gives a term and the sorts of its columns, which are always named c0, c1, ...; table
aliases are unique in a statement, so that a smaller statement keeps its meaning. ORDER BY comes with LIMIT,
OFFSET or DISTINCT ON only: the answer is a bag.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.property.expressions import COMPARABLE, SORTS, Expressions, Scope
from tests.property.places import placed
from tests.property.terms import NOTHING, Term, listed, optional


@dataclass(frozen=True)
class Relation:
    """What FROM may name: a table, a view, a CTE."""

    name: str
    columns: tuple[tuple[str, str], ...]  # name and sort


# Aggregates by the sort of the result: template and the sort of the argument ("" for none, "any" for one).
AGGREGATES: dict[str, tuple[tuple[int, str, str], ...]] = {
    "int": (
        (4, "count(*)", ""),
        (2, "count({})", "any"),
        (2, "count(DISTINCT {})", "any"),
        (4, "sum({})", "int"),
        (1, "sum(DISTINCT {})", "int"),
        (2, "min({})", "int"),
        (2, "max({})", "int"),
    ),
    "float": ((2, "sum({})", "float"), (1, "min({})", "float"), (1, "max({})", "float")),
    "wild": ((1, "sum({})", "wild"), (1, "min({})", "wild"), (1, "max({})", "wild"), (1, "avg({})", "wild")),
    "rough": (
        (2, "avg({})", "int"),
        (1, "avg({})", "float"),
        (1, "max({})", "rough"),
        (1, "avg(DISTINCT {})", "int"),
    ),
    "approx": ((1, "avg({})", "numeric"), (1, "sum({})", "rough"), (1, "avg({})", "rough")),
    "numeric": ((2, "sum({})", "numeric"), (1, "min({})", "numeric"), (1, "max({})", "numeric")),
    "text": ((1, "min({})", "text"), (1, "max({})", "text")),
    "date": ((1, "min({})", "date"), (1, "max({})", "date")),
    "timestamp": ((1, "min({})", "timestamp"), (1, "max({})", "timestamp")),
}
OUTPUTS = ("int", "int", "int", "text", "text", "bool", "float", "numeric", "date", "timestamp")
GROUPINGS = (
    *5 * (" GROUP BY {}",),
    " GROUP BY ROLLUP ({})",
    " GROUP BY CUBE ({})",
    " GROUP BY GROUPING SETS (({0}), {0}, ())",
)
SET_OPERATIONS = (
    "UNION",
    "UNION",
    "UNION ALL",
    "UNION ALL",
    "INTERSECT",
    "INTERSECT ALL",
    "EXCEPT",
    "EXCEPT ALL",
)


class Queries(Expressions):
    """Writes queries over `relations`, which grows and shrinks as CTEs come into scope and go."""

    def __init__(self, rng: random.Random, relations: tuple[Relation, ...]) -> None:
        super().__init__(rng)
        self.relations = list(relations)
        self.budget = 0  # subqueries that the statement may still have
        self.wanted: Relation | None = None  # what the next FROM should name
        self._names = 0

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def statement(self, depth: int = 3) -> tuple[Term, tuple[str, ...]]:
        """A whole query; its size is bounded by a budget of subqueries."""
        self.budget = self.rng.choice((0, 1, 2, 3, 5))
        return self.query(depth, (), None, loose=True)

    def query(
        self, depth: int, outer: tuple[Term, ...], sorts: tuple[str, ...] | None, loose: bool = False
    ) -> tuple[Term, tuple[str, ...]]:
        """A query with columns of `sorts`, or of any; `loose`: "approx" columns may be among them."""
        draw = self.rng.random()
        if depth > 1 and draw > 0.92:
            query, sorts = self.query(depth - 1, outer, sorts)
            return placed(self.rng, query, sorts, self.name("t")), sorts
        if depth > 1 and draw < 0.17:
            return self.set_operation(depth, outer, sorts)
        if depth > 1 and draw < 0.30:
            return self.with_cte(depth, outer, sorts, loose)
        return self.select(depth, outer, sorts, loose)

    def set_operation(
        self, depth: int, outer: tuple[Term, ...], sorts: tuple[str, ...] | None
    ) -> tuple[Term, tuple[str, ...]]:
        left, sorts = self.query(depth - 1, outer, sorts)
        right, _ = self.query(depth - 1, outer, sorts)
        operation = self.rng.choice(SET_OPERATIONS)
        return Term(left.sort, f"({{}}) {operation} ({{}})", (left, right)), sorts

    def with_cte(
        self, depth: int, outer: tuple[Term, ...], sorts: tuple[str, ...] | None, loose: bool
    ) -> tuple[Term, tuple[str, ...]]:
        name = self.name("w")
        inner, found = self.query(depth - 1, (), None)
        named = self.rng.random() < 0.3
        columns = tuple((f"x{i}" if named else f"c{i}", sort) for i, sort in enumerate(found))
        header = f"{name}({', '.join(c for c, _ in columns)})" if named else name
        body, sorts = self.over(Relation(name, columns), depth - 1, outer, sorts, loose)
        return Term(
            body.sort, f"WITH {header} AS ({{}}) {nested(body, self.name('t'))}", (inner, body)
        ), sorts

    def over(
        self,
        relation: Relation,
        depth: int,
        outer: tuple[Term, ...] = (),
        sorts: tuple[str, ...] | None = None,
        loose: bool = False,
    ) -> tuple[Term, tuple[str, ...]]:
        """A query that knows one relation more, and mostly reads it."""
        self.relations.append(relation)
        self.wanted = relation if self.rng.random() < 0.85 else None
        found = self.query(depth, outer, sorts, loose)
        self.relations.pop()
        self.wanted = None
        return found

    def select(
        self, depth: int, outer: tuple[Term, ...], sorts: tuple[str, ...] | None, loose: bool = False
    ) -> tuple[Term, tuple[str, ...]]:
        source, atoms = self.source(depth, outer)
        scope = Scope(atoms, outer)
        where = optional(" WHERE {}", self.predicate(scope, depth)) if self.rng.random() < 0.35 else NOTHING
        group = NOTHING
        having = NOTHING
        if sorts is None:
            sorts = self.output_sorts(scope, loose)
        grouped = self.rng.random() < 0.3
        if grouped:
            group, scope = self.grouped(scope, sorts)
            if self.rng.random() < 0.3:
                having = optional(" HAVING {}", self.expression("bool", scope, 2))
        distinct = optional("DISTINCT ") if self.rng.random() < 0.12 and "approx" not in sorts else NOTHING
        items = tuple(
            Term("item", f"{{}} AS c{i}", (self.item(sort, scope, 2 if self.rng.random() < 0.5 else 0),))
            for i, sort in enumerate(sorts)
        )
        parts = (distinct, listed("items", items), source, where, group, having)
        return Term(f"query({','.join(sorts)})", "SELECT {}{} FROM {}{}{}{}", parts), sorts

    def output_sorts(self, scope: Scope, loose: bool) -> tuple[str, ...]:
        """Sorts of one to four columns, such as the scope has and now and then others."""
        choices = [atom.sort for atom in scope.atoms if loose or atom.sort != "approx"]
        count = self.rng.choice((1, 2, 2, 3, 3, 4))
        extra = (*OUTPUTS, "rough", "rough", "approx", "approx", "wild") if loose else (*OUTPUTS, "rough")
        return tuple(
            self.rng.choice(choices) if choices and self.rng.random() < 0.88 else self.rng.choice(extra)
            for _ in range(count)
        )

    def item(self, sort: str, scope: Scope, depth: int) -> Term:
        term = self.expression(sort, scope, depth)
        if not term.parts and term.text.startswith("'"):
            return Term(sort, f"CAST({term.text} AS text)")  # a bare literal has no type of its own yet
        return term

    def predicate(self, scope: Scope, depth: int) -> Term:
        return self.expression("bool", scope, 2 if depth > 1 else 1)

    # Groups

    def grouped(self, scope: Scope, sorts: tuple[str, ...]) -> tuple[Term, Scope]:
        """GROUP BY, and the scope behind it: the keys, and aggregates of the sorts that are asked for."""
        keys: list[Term] = []
        for _ in range(self.rng.choice((0, 1, 1, 1, 2))):
            wanted = [atom for atom in scope.atoms if atom.sort in SORTS]
            if wanted:
                atom = self.rng.choice([a for a in wanted if a.sort in sorts] or wanted)
                keys.append(self.key(atom, scope))
        found = [self.aggregate(sort, scope) for sort in (*sorts, "int") if sort in AGGREGATES]
        clause = optional(self.rng.choice(GROUPINGS), listed("items", tuple(keys))) if keys else NOTHING
        return clause, Scope((*keys, *found), scope.outer)

    def key(self, atom: Term, scope: Scope) -> Term:
        if self.rng.random() < 0.8 or atom.sort != "int":
            return atom
        return Term("int", self.rng.choice(("({} % 2)", "({} + 1)", "abs({})")), (atom,))

    def aggregate(self, sort: str, scope: Scope) -> Term:
        choices = AGGREGATES[sort]
        _, text, argument = self.rng.choices(choices, [each[0] for each in choices])[0]
        parts: tuple[Term, ...] = ()
        if argument:
            known = [atom.sort for atom in scope.atoms if atom.sort != "approx"]
            argument = self.rng.choice(known or ["int"]) if argument == "any" else argument
            parts = (self.expression(argument, Scope(scope.atoms), self.rng.choice((0, 0, 1))),)
        if self.rng.random() < 0.2:
            condition = self.expression("bool", Scope(scope.atoms), 1)
            return Term(sort, text + " FILTER (WHERE {})", (*parts, condition))
        return Term(sort, text, parts)

    # FROM

    def source(self, depth: int, outer: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        if self.rng.random() < 0.06:
            return self.joined_by_equalities(depth, outer)
        term, atoms = self.primary(depth, outer)
        joins = self.rng.choice((0, 0, 0, 1, 1, 1, 2)) if depth > 1 else self.rng.choice((0, 0, 1))
        for _ in range(joins):
            term, atoms = self.join(term, atoms, depth, outer)
        if self.rng.random() < 0.08:  # at the end: a comma binds less than JOIN
            other, more = self.primary(depth - 1, outer)
            return Term("from", "{}, {}", (term, other)), atoms + more
        return term, atoms

    def primary(self, depth: int, outer: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        """A named relation, a subquery or a list of values."""
        alias = self.name("t")
        draw = self.rng.random()
        if self.wanted is not None:
            relation, self.wanted = self.wanted, None
            return Term("from", f"{relation.name} AS {alias}"), _columns(alias, relation.columns)
        if depth > 1 and draw < 0.2 and self.budget > 0:
            self.budget -= 1
            query, sorts = self.query(depth - 1, (), None)
            return Term("from", f"({{}}) AS {alias}", (query,)), _columns(alias, enumerated(sorts))
        if draw > 0.97:
            return self.values(alias)
        recent = self.relations[-2:] if self.rng.random() < 0.4 else self.relations
        relation = self.rng.choice(recent)
        return Term("from", f"{relation.name} AS {alias}"), _columns(alias, relation.columns)

    def values(self, alias: str) -> tuple[Term, tuple[Term, ...]]:
        sorts = tuple(self.rng.choice(("int", "text")) for _ in range(self.rng.randint(1, 2)))
        names = ", ".join(f"c{i}" for i in range(len(sorts)))
        rows = tuple(
            Term("row", f"({', '.join('{}' for _ in sorts)})", tuple(self.literal(sort) for sort in sorts))
            for _ in range(self.rng.randint(1, 3))
        )
        term = Term("from", f"(VALUES {{}}) AS {alias}({names})", (listed("rows", rows),))
        return term, _columns(alias, enumerated(sorts))

    def join(
        self, left: Term, atoms: tuple[Term, ...], depth: int, outer: tuple[Term, ...]
    ) -> tuple[Term, tuple[Term, ...]]:
        draw = self.rng.random()
        if draw < 0.12:
            return self.using(left, atoms)
        if draw < 0.20 and depth > 1 and self.budget > 0:
            return self.lateral(left, atoms, depth, outer)
        right, others = self.primary(depth - 1, outer)
        if draw < 0.30:
            return Term("from", "{} CROSS JOIN {}", (left, right)), atoms + others
        kind = self.rng.choice(
            ("JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
        )
        condition = self.join_condition(atoms, others)
        return Term("from", f"{{}} {kind} {{}} ON {{}}", (left, right, condition)), atoms + others

    def joined_by_equalities(self, depth: int, outer: tuple[Term, ...]) -> tuple[Term, tuple[Term, ...]]:
        """Inner joins of three or four relations, each equal to the one before it, and often to the first one
        too, which closes a cycle."""
        term, first = self.primary(depth - 1, outer)
        atoms = last = first
        for _ in range(self.rng.choice((2, 2, 3))):
            right, others = self.primary(depth - 1, outer)
            pairs = [(a, b) for a in last for b in others if a.sort == b.sort and a.sort in SORTS]
            closing = [(a, b) for a in first for b in others if a.sort == b.sort and a.sort in SORTS]
            atoms, last = atoms + others, others
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
        """A join of the whole left side with a relation on a column name that both have."""
        alias = self.name("t")
        named: dict[str, list[Term]] = {}
        for atom in atoms:
            named.setdefault(atom.text.split(".")[-1], []).append(atom)
        options = [
            (relation, column)
            for relation in self.relations
            for column, sort in relation.columns
            if column in named and len(named[column]) == 1 and named[column][0].sort == sort and sort in SORTS
        ]
        if not options:
            relation = self.rng.choice(self.relations)
            right = Term("from", f"{relation.name} AS {alias}")
            return Term("from", "{} CROSS JOIN {}", (left, right)), atoms + _columns(alias, relation.columns)
        relation, column = self.rng.choice(options)
        kind = self.rng.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        merged = Term(named[column][0].sort, column)
        right = Term("from", f"{relation.name} AS {alias}")
        others = _columns(alias, tuple(each for each in relation.columns if each[0] != column))
        kept = tuple(atom for atom in atoms if atom is not named[column][0])
        return Term("from", f"{{}} {kind} {{}} USING ({column})", (left, right)), (merged, *kept, *others)

    def lateral(
        self, left: Term, atoms: tuple[Term, ...], depth: int, outer: tuple[Term, ...]
    ) -> tuple[Term, tuple[Term, ...]]:
        self.budget -= 1
        alias = self.name("t")
        query, sorts = self.select(1, atoms + outer, None)
        if self.rng.random() < 0.3:
            query = placed(self.rng, query, sorts, self.name("t"))
        text = (
            self.rng.choice(("{} CROSS JOIN LATERAL ({}) AS %s", "{} LEFT JOIN LATERAL ({}) AS %s ON TRUE"))
            % alias
        )
        return Term("from", text, (left, query)), atoms + _columns(alias, enumerated(sorts))

    # Subqueries in expressions

    def subquery(self, sort: str, scope: Scope, depth: int) -> Term | None:
        if self.budget <= 0:
            return None
        self.budget -= 1
        if sort == "bool":
            return self.subquery_test(scope)
        if sort not in AGGREGATES or sort == "approx":
            return None
        source, where, inner = self.correlated(scope)
        value = self.aggregate(sort, inner)
        item = listed("items", (Term("item", "{} AS c0", (value,)),))
        query = Term(f"query({sort})", "SELECT {} FROM {}{}", (item, source, where))
        return Term(sort, "({})", (query,))

    def subquery_test(self, scope: Scope) -> Term:
        """EXISTS, IN, NOT IN, or a comparison with ANY or ALL."""
        source, where, inner = self.correlated(scope)
        if self.rng.random() < 0.4:
            text = self.rng.choice(("EXISTS ({})", "EXISTS ({})", "(NOT EXISTS ({}))"))
            return Term("bool", text, (Term("query(int)", "SELECT 1 AS c0 FROM {}{}", (source, where)),))
        wanted = [s for s in COMPARABLE if inner.of(s)] or ["int"]
        sort = self.rng.choice(wanted)
        item = listed("items", (Term("item", "{} AS c0", (self.item(sort, inner, 0),)),))
        query = Term(f"query({sort})", "SELECT {} FROM {}{}", (item, source, where))
        text = self.rng.choice(
            ("({} IN ({}))", "({} IN ({}))", "({} NOT IN ({}))", "({} NOT IN ({}))", "quantified")
        )
        if text == "quantified":
            text = (
                f"({{}} {self.rng.choice(('=', '<', '<>', '>='))} {self.rng.choice(('ANY', 'ALL'))} ({{}}))"
            )
        return Term("bool", text, (self.expression(sort, scope, 1), query))

    def correlated(self, scope: Scope) -> tuple[Term, Term, Scope]:
        """FROM and WHERE of a subquery that mostly refers to its surroundings, and its scope."""
        outer = tuple(atom for atom in scope.atoms + scope.outer if "(" not in atom.sql())
        source, atoms = self.primary(1, ())
        if self.rng.random() < 0.2:
            source, atoms = self.join(source, atoms, 1, ())
        inner = Scope(atoms, outer)
        pairs = [(a, b) for a in atoms for b in outer if a.sort == b.sort and a.sort in (*SORTS, "wild")]
        draw = self.rng.random()
        if pairs and draw < 0.65:
            operator = self.rng.choice(("=", "=", "=", "=", "<", "<>", ">"))
            test = Term("bool", f"({{}} {operator} {{}})", self.rng.choice(pairs))
            if self.rng.random() < 0.3:
                test = Term("bool", "({} AND {})", (test, self.expression("bool", inner, 1)))
        elif draw < 0.8:
            test = self.expression("bool", inner, 1)
        else:
            return source, NOTHING, inner
        return source, optional(" WHERE {}", test), inner


def enumerated(sorts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((f"c{i}", sort) for i, sort in enumerate(sorts))


def _columns(alias: str, columns: tuple[tuple[str, str], ...]) -> tuple[Term, ...]:
    return tuple(Term(sort, f"{alias}.{column}") for column, sort in columns)


def nested(body: Term, alias: str) -> str:
    """The place of a query behind WITH, which may begin with a WITH of its own."""
    return f"SELECT * FROM ({{}}) AS {alias}" if body.text.startswith("WITH") else "{}"
