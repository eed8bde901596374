"""Random queries: SELECT in all its clauses, joins, groups, set operations, CTEs and subqueries.

`Queries.query` gives a term and the sorts of its columns, which are always named c0, c1, ...; table
aliases are unique in a statement, so that a smaller statement keeps its meaning. ORDER BY comes with LIMIT,
OFFSET or DISTINCT ON only: the answer is a bag.
"""

from __future__ import annotations

from tests.property.expressions import COMPARABLE, SORTS, Scope
from tests.property.groups import AGGREGATES
from tests.property.places import DIRECTIONS, placed
from tests.property.relations import Relation, qualified
from tests.property.terms import NOTHING, Term, listed, optional
from tests.property.trees import Trees

OUTPUTS = ("int", "int", "int", "text", "text", "bool", "float", "numeric", "date", "timestamp")
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


class Queries(Trees):
    """Writes queries over `relations`."""

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
            return placed(self.rng, query, sorts, self.name("t"), self.total), sorts
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
        grouped = self.rng.random() < 0.3
        if sorts is None:
            sorts = self.output_sorts(scope, loose)
            if grouped and loose and self.rng.random() < 0.2:
                sorts = (*sorts, "approx")
        if grouped:
            group, scope = self.grouped(scope, sorts)
            if self.rng.random() < 0.3:
                having = optional(" HAVING {}", self.expression("bool", scope, 2))
        window = qualify = NOTHING
        if self.rng.random() < 0.15:
            scope, window, qualify = self.windowed(scope, sorts)
        distinct = optional("DISTINCT ") if self.rng.random() < 0.12 and "approx" not in sorts else NOTHING
        items = tuple(
            Term("item", f"{{}} AS c{i}", (self.item(sort, scope, 2 if self.rng.random() < 0.5 else 0),))
            for i, sort in enumerate(sorts)
        )
        parts = (distinct, listed("items", items), source, where, group, having, window, qualify)
        return Term(f"query({','.join(sorts)})", "SELECT {}{} FROM {}{}{}{}{}{}", parts), sorts

    def output_sorts(self, scope: Scope, loose: bool) -> tuple[str, ...]:
        """Sorts of one to four columns, such as the scope has and now and then others."""
        choices = [atom.sort for atom in scope.atoms if loose or atom.sort != "approx"]
        count = self.rng.choice((1, 2, 2, 3, 3, 4))
        extra = (*OUTPUTS, "rough", "rough", "approx", "approx", "wild") if loose else (*OUTPUTS, "rough")
        return tuple(
            self.rng.choice(choices) if choices and self.rng.random() < 0.88 else self.rng.choice(extra)
            for _ in range(count)
        )

    def predicate(self, scope: Scope, depth: int) -> Term:
        return self.expression("bool", scope, 2 if depth > 1 else 1)

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
        if sort in SORTS and self.rng.random() < 0.25:
            return self.first_value(sort, source, where, inner)
        value = self.aggregate(sort, inner)
        item = listed("items", (Term("item", "{} AS c0", (value,)),))
        query = Term(f"query({sort})", "SELECT {} FROM {}{}", (item, source, where))
        return Term(sort, "({})", (query,))

    def first_value(self, sort: str, source: Term, where: Term, inner: Scope) -> Term:
        """The first value in an order, which says all that there is to say of it."""
        ours, theirs = self.rng.choice(DIRECTIONS)
        text = "SELECT {} FROM {}{} ORDER BY 1%s LIMIT 1"
        parts = (listed("items", (Term("item", "{} AS c0", (self.item(sort, inner, 0),)),)), source, where)
        return Term(sort, "({})", (Term(f"query({sort})", text % ours, parts, text % theirs),))

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
        outer = tuple(atom for atom in qualified(scope.atoms + scope.outer) if "(" not in atom.sql())
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


def nested(body: Term, alias: str) -> str:
    """The place of a query behind WITH, which may begin with a WITH of its own."""
    return f"SELECT * FROM ({{}}) AS {alias}" if body.text.startswith("WITH") else "{}"
