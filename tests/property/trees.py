"""Random join trees: every nesting of commas, parentheses, LATERAL, table functions, subqueries, VALUES and
all kinds of joins.

A tree comes with its columns as `*` has them under bare names or a table's. `before` are the columns of the
tables on the left, which LATERAL queries and table functions may refer to. Some trees are no SQL (a LATERAL
on the wrong side of a RIGHT JOIN): the referee says so.
"""

from __future__ import annotations

from collections import Counter

from tests.property.expressions import SORTS, Scope
from tests.property.relations import Columns, columns_of, enumerated, together
from tests.property.sources import Sources
from tests.property.terms import NOTHING, Term, listed, optional

Atoms = tuple[Term, ...]
Tree = tuple[Term, Atoms]

MOST_TABLES = 5
"""Of a tree, so that their rows' combinations can be counted."""
_SIDES = ("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


class Trees(Sources):
    """Writes trees, and lets them into any FROM."""

    tables_left = 0  # that the tree may still have

    def source(self, depth: int, outer: Atoms) -> Tree:
        if depth > 1 and self.wanted is None and self.rng.random() < 0.08:
            term, atoms = self.tree(self.rng.choice((1, 2, 2)))
            return term, together(atoms, ())
        return super().source(depth, outer)

    def tree(self, depth: int, before: Atoms = ()) -> Tree:
        """Groups of joins between commas."""
        self.tables_left = MOST_TABLES
        term, atoms = self.group(depth, before)
        while self.tables_left > 0 and self.rng.random() < 0.4:
            other, more = self.group(depth, (*before, *atoms))
            term, atoms = Term("from", "{}, {}", (term, other)), (*atoms, *more)
        return term, atoms

    def group(self, depth: int, before: Atoms, least: int = 0) -> Tree:
        """Tables joined from the left, with `least` joins at least."""
        term, atoms = self.table(depth, before)
        for made in range(max(least, self.rng.choice((0, 0, 1, 1, 2)))):
            if made < least or self.tables_left > 0:
                term, atoms = self.joined(term, atoms, depth, before)
        return term, atoms

    def table(self, depth: int, before: Atoms) -> Tree:
        """One item of FROM."""
        draw = self.rng.random()
        alias = self.name("t")
        self.tables_left -= 1
        if depth > 0 and draw < 0.25 and self.tables_left > 0:
            return self.parenthesised(depth - 1, before, alias)
        if draw < 0.45:
            return self.derived(before, alias)
        if draw < 0.55 and before:
            return self.made(before, alias)
        if draw < 0.62:
            return self.values(alias)
        relation = self.rng.choice(self.relations)
        return Term("from", f"{relation.name} AS {alias}"), columns_of(alias, relation.columns)

    def parenthesised(self, depth: int, before: Atoms, alias: str) -> Tree:
        """A join in parentheses, which may have a name of its own and then new names for all columns."""
        term, atoms = self.group(depth, before, least=1)
        if self.rng.random() < 0.7 or any("." not in atom.text for atom in atoms):
            return Term("from", "({})", (term,)), atoms
        columns = enumerated(tuple(atom.sort for atom in atoms))
        names = ", ".join(name for name, _ in columns)
        return Term("from", f"({{}}) AS {alias}({names})", (term,)), columns_of(alias, columns)

    def derived(self, before: Atoms, alias: str) -> Tree:
        """A subquery over a table, or over nothing; LATERAL where it can refer to what is on its left."""
        lateral = bool(before) and self.rng.random() < 0.6
        outer = tuple(atom for atom in before if atom in certain(before)) if lateral else ()
        atoms: Atoms = ()
        source = where = NOTHING
        if self.rng.random() < 0.6:
            relation, inner = self.rng.choice(self.relations), self.name("t")
            atoms = columns_of(inner, relation.columns)
            source = Term("source", f" FROM {relation.name} AS {inner}")
            if self.rng.random() < 0.6:
                where = optional(" WHERE {}", self.pairing(atoms, outer or atoms))
        scope = Scope(atoms, outer) if atoms else Scope(outer)
        known = [atom.sort for atom in (*atoms, *outer) if atom.sort in SORTS]
        sorts = tuple(self.rng.choice(known or ["int"]) for _ in range(self.rng.choice((1, 1, 2))))
        items = tuple(
            Term("item", f"{{}} AS c{i}", (self.item(sort, scope, 0),)) for i, sort in enumerate(sorts)
        )
        query = Term(f"query({','.join(sorts)})", "SELECT {}{}{}", (listed("items", items), source, where))
        word = "LATERAL " if lateral else ""
        return Term("from", f"{word}({{}}) AS {alias}", (query,)), columns_of(alias, enumerated(sorts))

    def made(self, before: Atoms, alias: str) -> Tree:
        """The rows that a table function makes of what is on its left."""
        named = certain(before)
        numbers = [atom for atom in before if atom.sort == "int" and atom in named]
        lists = [atom for atom in before if atom.sort == "list" and atom in named]
        if lists and self.rng.random() < 0.5:
            call = Term("call", "unnest({})", (self.rng.choice(lists),))
        elif numbers and self.rng.random() < 0.5:
            both = (self.rng.choice(numbers), self.rng.choice(numbers))
            call = Term("call", "unnest(ARRAY[{}, {}])", both)
        else:
            last = self.rng.choice(numbers or [self.literal("int")])
            call = Term("call", "generate_series(1, LEAST({}, 3))", (last,))
        word = self.rng.choice(("", "LATERAL "))
        duck = f"LATERAL (SELECT {{}} AS c0) AS {alias}"
        inner = Term("call", "{}", (call,), "unnest({})" if call.text.startswith("gen") else None)
        return Term("from", f"{word}{{}} AS {alias}(c0)", (inner,), duck), (Term("int", f"{alias}.c0"),)

    def joined(self, left: Term, atoms: Atoms, depth: int, before: Atoms) -> Tree:
        """A join with one table more: on a condition, on columns of one name, or on nothing."""
        draw = self.rng.random()
        if draw < 0.2:
            right, others = self.table(depth, (*before, *atoms))
            return Term("from", "{} CROSS JOIN {}", (left, right)), (*atoms, *others)
        side = self.rng.choice(_SIDES)
        visible = before if side in ("RIGHT JOIN", "FULL JOIN") else (*before, *atoms)
        right, others = self.table(depth, visible)
        common = _common(atoms, others)
        if common and draw < 0.5:
            return self.merging(left, atoms, right, others, side, common)
        if depth > 0 and draw > 0.9:  # two joins before their two conditions
            second, more = self.table(depth - 1, before)
            inner = (second, self.pairing(others, more))
            right = Term("from", f"{{}} {self.rng.choice(_SIDES)} {{}} ON {{}}", (right, *inner))
            others = (*others, *more)
        condition = self.pairing(atoms, others)
        return Term("from", f"{{}} {side} {{}} ON {{}}", (left, right, condition)), (*atoms, *others)

    def merging(
        self, left: Term, atoms: Atoms, right: Term, others: Atoms, side: str, common: Columns
    ) -> Tree:
        """USING some of the columns of one name, or NATURAL, which takes all of them."""
        names = {_bare(atom) for atom in atoms} & {_bare(other) for other in others}
        if len(common) == len(names) and self.rng.random() < 0.4:
            used = common
            text = f"{{}} NATURAL {side} {{}}"
        else:
            used = tuple(self.rng.sample(common, self.rng.randint(1, len(common))))
            text = f"{{}} {side} {{}} USING ({', '.join(name for name, _ in used)})"
        merged = {name for name, _ in used}
        kept = tuple(atom for atom in (*atoms, *others) if _bare(atom) not in merged)
        return Term("from", text, (left, right)), (*(Term(sort, name) for name, sort in used), *kept)

    def pairing(self, left: Atoms, right: Atoms) -> Term:
        """A condition on columns of both sides."""
        named = certain((*left, *right))
        pairs = [(a, b) for a in left for b in right if a.sort == b.sort and {a, b} <= named]
        if not pairs or self.rng.random() < 0.1:
            return Term("bool", self.rng.choice(("TRUE", "FALSE", "(1 = 1)")))
        operator = self.rng.choice(("=", "=", "=", "=", "<", "<>"))
        return Term("bool", f"({{}} {operator} {{}})", self.rng.choice(pairs))


def _bare(atom: Term) -> str:
    return atom.text.split(".")[-1]


def certain(atoms: Atoms) -> frozenset[Term]:
    """The columns of sorts to be compared whose names no other column has: one that was merged has a bare
    name alone."""
    names = Counter(map(_bare, atoms))
    return frozenset(
        atom for atom in atoms if atom.sort in SORTS and ("." in atom.text or names[atom.text] == 1)
    )


def _common(left: Atoms, right: Atoms) -> Columns:
    """The names that each side has once, of one sort, in the order of the left."""
    lefts, rights = ([_bare(atom) for atom in side] for side in (left, right))
    sorts = {_bare(atom): atom.sort for atom in right}
    return tuple(
        (name, atom.sort)
        for atom, name in zip(left, lefts, strict=True)
        if lefts.count(name) == rights.count(name) == 1 and sorts[name] == atom.sort and atom.sort in SORTS
    )
