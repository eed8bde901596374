"""Recursive names: finds their types, binds their queries against each other, and makes a fixed point.

Types are found by iteration. The branches of UNION that do not recur give the first types; binding the whole
queries against them may widen them, until nothing changes. Nullability is found in the same way, starting
from "never NULL", which holds in the empty first round. In WITH MUTUALLY RECURSIVE the types are declared,
and the queries' columns are cast to them.

A WITH RECURSIVE of one name that its system evaluates with a working table becomes a loop with one, unless
the fixed point is the same. The names of any other are updated together: each query reads all names as of the
previous round. Those of a WITH MUTUALLY RECURSIVE are updated in sequence, as in Materialize: each reads
the names before it in the text as of the same round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.plan.nodes import OnLimit
from engine.schema import Kind, Type, numeric
from planner.bind.coercion import coerce
from planner.bind.determined_limits import check_determined
from planner.bind.from_binder import renamed
from planner.bind.monotone import check_monotone
from planner.bind.recursions.search_cycle import has_clauses, traversed
from planner.bind.recursions.using_key import KEPT, NEW, check_unique, keyed_rows
from planner.bind.session import BindQuery, Bound, Entry, Environment, Recursion, Session, Taken
from planner.bind.working_loop import ACCUMULATED, keyed_loop, sides_of, working_loop
from planner.bind.working_table import beyond_working_table, body_of, has_working_table, is_set
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, InvalidSyntax, TypeMismatch, UnsettledTypes, Unsupported
from planner.identifiers import fold
from planner.ir import Attribute, Expression, Fixpoint, Project, RecursiveBinding, Relational
from planner.ir.scalars import may_be_null
from planner.native.reference import union_type
from planner.parsing.mutually import Declaration
from planner.parsing.table_references import recurring_nodes, table_names
from planner.positions import fail, refuse
from planner.sql_types import MAX_PRECISION, UNTYPED

_MAX_ITERATIONS = 12


@dataclass(frozen=True)
class _Column:
    """What is known so far of a recursive name's column."""

    name: str
    type: Type
    nullable: bool


_Known = Mapping[str, tuple[_Column, ...]]


def bind_recursive(
    session: Session, ctes: Mapping[str, exp.CTE], environment: Environment, bind_query: BindQuery
) -> Environment:
    """The environment with the names of one cycle of a WITH RECURSIVE."""
    group = _Group(session, ctes, environment, bind_query)
    known = group.seeds()
    if any(map(has_clauses, ctes.values())):
        ctes = _traversed(session, ctes, known)
        group = _Group(session, ctes, environment, bind_query)
        known = group.seeds()
    seeds = known
    for _ in range(_MAX_ITERATIONS):
        bound = group.together(known)
        found = {name: group.widened(name, known[name], bound[name]) for name in ctes}
        if found == known:
            break
        known = found
    else:
        name = next(iter(ctes))
        error = UnsettledTypes(
            f'the types of recursive "{name}" widen without end',
            "cast the recursive columns to the types that you want",
        )
        fail(error, ctes[name].args["alias"])
    _take_widened(session, ctes, seeds, known)
    bindings = group.bindings(known, bound)
    loop = group.loop(bindings[0], known) if len(bindings) == 1 else None
    return group.closed(known, bindings) if loop is None else group.closed(known, loop, (ACCUMULATED,))


def _take_widened(session: Session, ctes: Mapping[str, exp.CTE], seeds: _Known, known: _Known) -> None:
    """Note the types of a recursive name's columns where its first rows are computed: DuckDB would cast all
    other rows to the types of those."""
    for name, cte in ctes.items():
        body = body_of(cte)
        types = [column.type for column in known[name]]
        if isinstance(body, exp.Union) and types != [column.type for column in seeds[name]]:
            columns = tuple((column.name, column.type) for column in known[name])
            if has(session.dialect, Trait.KEEPS_DIGITS):
                session.takes(body.this, Taken(types[0], columns=columns))


def _traversed(session: Session, ctes: Mapping[str, exp.CTE], known: _Known) -> dict[str, exp.CTE]:
    """The one name without its SEARCH and CYCLE, which its columns then hold."""
    ((name, cte),) = ctes.items()
    if not has(session.dialect, Trait.SEARCHES_AND_CYCLES):
        error = Unsupported(
            f"SEARCH or CYCLE in the dialect {session.dialect} is not supported",
            "create it in the dialect postgres, or keep the path in an array column",
        )
        fail(error, cte.args["alias"])
    return {name: traversed(cte, {column.name: column.type for column in known[name]})}


def bind_mutual(
    session: Session,
    ctes: Mapping[str, exp.CTE],
    declaration: Declaration,
    environment: Environment,
    bind_query: BindQuery,
) -> Environment:
    """The environment with the names of a WITH MUTUALLY RECURSIVE."""
    for alias in [cte.args["alias"] for cte in ctes.values()][len(declaration.types) :]:
        fail(InvalidSyntax("a query has one WITH", "separate the names by commas"), alias)
    group = _Group(session, ctes, environment, bind_query)
    known = {
        name: tuple(
            _Column(fold(identifier), type, False)
            for identifier, type in zip(cte.args["alias"].columns, types, strict=True)
        )
        for (name, cte), types in zip(ctes.items(), declaration.types, strict=True)
    }
    while True:
        bound = group.in_sequence(known)
        found = {name: group.declared(name, known[name], bound[name]) for name in ctes}
        if found == known:
            bindings = group.bindings(known, bound)
            return group.closed(known, bindings, None, declaration.limit, declaration.on_limit)
        known = found


class _Group:
    """The names of one recursion, and the context for binding them."""

    def __init__(
        self, session: Session, ctes: Mapping[str, exp.CTE], environment: Environment, bind_query: BindQuery
    ) -> None:
        self.session = session
        self.ctes = ctes
        self.environment = environment
        self.bind_query = bind_query
        self.variables = {name: session.number() for name in ctes}
        self.accumulated = session.number()

    def seeds(self) -> dict[str, tuple[_Column, ...]]:
        """First types for every name, from branches that refer only to names with known types."""
        known: dict[str, tuple[_Column, ...]] = {}
        while len(known) < len(self.ctes):
            ready = [
                (name, seed)
                for name, cte in self.ctes.items()
                if name not in known
                and (seed := _without(cte.this.copy(), frozenset(self.ctes) - known.keys())) is not None
            ]
            if not ready:
                name = next(name for name in self.ctes if name not in known)
                error = InvalidQuery(
                    f'recursive "{name}" has no branch of UNION that does not refer to it',
                    "add one, or declare the types: WITH MUTUALLY RECURSIVE name (column type, ...) AS (...)",
                )
                fail(error, self.ctes[name].args["alias"])
            known.update({name: self._columns(name, self._bound(seed, known)) for name, seed in ready})
        return {name: known[name] for name in self.ctes}

    def together(self, known: _Known) -> dict[str, Bound]:
        """The queries, each over all names as of the previous round."""
        return {name: self._bound(cte.this, known) for name, cte in self.ctes.items()}

    def in_sequence(self, known: _Known) -> dict[str, Bound]:
        """The queries, each over the names before it as of the same round."""
        bound: dict[str, Bound] = {}
        for name, cte in self.ctes.items():
            bound[name] = self._bound(cte.this, known, current=bound.keys())
        return bound

    def widened(self, name: str, known: tuple[_Column, ...], bound: Bound) -> tuple[_Column, ...]:
        """Columns that hold both the known values and the query's."""
        columns = self._columns(name, bound)
        if len(columns) != len(known):
            error = f'recursive "{name}" has {len(known)} columns in one branch and {len(columns)} in another'
            fail(InvalidQuery(error), self.ctes[name].args["alias"])
        result = []
        for old, new in zip(known, columns, strict=True):
            type = _wider(old.type, new.type)
            if type is None:
                mismatch = UnsettledTypes(
                    f'column "{old.name}" of recursive "{name}" is {old.type} where it starts, '
                    f"but {new.type} where it recurs",
                    "cast one of them",
                )
                fail(mismatch, self.ctes[name].args["alias"])
            result.append(_Column(old.name, type, old.nullable or new.nullable))
        return tuple(result)

    def declared(self, name: str, known: tuple[_Column, ...], bound: Bound) -> tuple[_Column, ...]:
        """The declared columns, nullable where the query's are."""
        if len(bound.columns) != len(known):
            error = f'"{name}" is declared with {len(known)} columns, its query returns {len(bound.columns)}'
            fail(InvalidQuery(error), self.ctes[name].args["alias"])
        return tuple(
            replace(old, nullable=old.nullable or new.nullable)
            for old, new in zip(known, bound.columns, strict=True)
        )

    def bindings(self, known: _Known, bound: Mapping[str, Bound]) -> tuple[RecursiveBinding, ...]:
        """Each name with its query, cast to the known types."""
        return tuple(
            self._binding(name, [column.type for column in known[name]], bound[name]) for name in self.ctes
        )

    def loop(self, binding: RecursiveBinding, known: _Known) -> tuple[RecursiveBinding, ...] | None:
        """The loop of a single name that has a working table; None if it is a fixed point."""
        cte = self.ctes[binding.name]
        if cte.args.get("key_expressions"):
            return self._keyed(cte, binding, known)
        if beyond_working_table(binding.name, cte, self.session.dialect) is not None:
            return None
        sides = sides_of(self.session, binding)
        if not has_working_table(self.session, cte, sides.step.operator, binding.variable):
            return None
        return working_loop(self.session, binding, sides, self.accumulated, is_set(cte))

    def _keyed(self, cte: exp.CTE, binding: RecursiveBinding, known: _Known) -> tuple[RecursiveBinding, ...]:
        """The loop of a name with USING KEY."""
        beyond = beyond_working_table(binding.name, cte, "duckdb")
        if not has(self.session.dialect, Trait.STEPS_READ_ANYTHING) or beyond is not None:
            refuse(cte.args["alias"], "USING KEY is supported in the dialect duckdb, for base UNION step")
        check_determined(body_of(cte).expression)
        sides = sides_of(self.session, binding)
        rows = keyed_rows(cte, {column.name: column.type for column in known[binding.name]})
        check_unique(cte, rows, sides)

        def merged(kept: Bound, new: Bound) -> Bound:
            entries = {
                name: self.session.define(_named(side, rows.columns))
                for name, side in ((KEPT, kept), (NEW, new))
            }
            return self.bind_query(self.session, rows.query(), self.environment.apart().extended(entries))

        return keyed_loop(self.session, binding, sides, self.accumulated, merged)

    def closed(
        self,
        known: _Known,
        bindings: tuple[RecursiveBinding, ...],
        results: Iterable[int] | None = None,
        limit: int | None = None,
        on_limit: OnLimit = OnLimit.ERROR,
    ) -> Environment:
        """The environment in which each name is a definition: the value at the end of the binding at its
        place in `results`, which are the bindings in order unless given."""
        self._check_priorities(bindings, limit)
        entries = {}
        for index, name in zip(results or range(len(bindings)), self.ctes, strict=True):
            with self.session.provenance.noting(self.ctes[name]):
                columns = self._attributes(known[name])
            fixpoint = Fixpoint(bindings, index, columns, limit, on_limit)
            entries[name] = self.session.define(Bound(fixpoint, columns))
        return self.environment.extended(entries)

    def _check_priorities(self, bindings: tuple[RecursiveBinding, ...], limit: int | None) -> None:
        """Raise Unsupported at the hint if rows cannot enter the recursion at rounds of their own."""
        hint = self.session.priorities.get(min(self.variables.values()))
        if hint is None:
            return
        if limit is not None:
            refuse(hint, "PRIORITY is not supported with a limit of rounds", "remove one of them")
        try:
            check_monotone(self.session, bindings)
        except Unsupported as error:
            fail(error, hint)

    def _binding(self, name: str, types: list[Type], bound: Bound) -> RecursiveBinding:
        value: Relational = bound.operator
        columns = bound.columns
        if [column.type for column in columns] != types:
            known = {column.id: column for column in value.columns}
            items = []
            for column, type in zip(columns, types, strict=True):
                value_cast = self._cast(name, column, type)
                new = self.session.attribute(column.name, type, may_be_null(value_cast, known))
                items.append((new, value_cast))
            value = Project(value, tuple(items))
            columns = tuple(attribute for attribute, _ in items)
        return RecursiveBinding(self.variables[name], name, value, tuple(column.id for column in columns))

    def _cast(self, name: str, column: Attribute, type: Type) -> Expression:
        try:
            return coerce(column.ref, type)
        except TypeMismatch as error:
            fail(error, self.ctes[name].args["alias"])

    def _bound(self, query: exp.Expression, known: _Known, current: Collection[str] = ()) -> Bound:
        """The query over the known names; those in `current` are read as of the same round."""
        entries: dict[str, Entry] = {
            name: Recursion(self.variables[name], self._attributes(columns), name in current)
            for name, columns in known.items()
        }
        if len(known) == 1 and has(self.session.dialect, Trait.STEPS_READ_ANYTHING):
            for name, columns in known.items():
                every = Recursion(self.accumulated, self._attributes(columns))
                entries[f"recurring.{name}"] = every
        environment = replace(
            self.environment.extended(entries), recursion=frozenset(self.variables.values())
        )
        return self.bind_query(self.session, query, environment)

    def _attributes(self, columns: tuple[_Column, ...]) -> tuple[Attribute, ...]:
        return tuple(self.session.attribute(c.name, c.type, c.nullable) for c in columns)

    def _columns(self, name: str, bound: Bound) -> tuple[_Column, ...]:
        cte = self.ctes[name]
        names = [fold(identifier) for identifier in cte.args["alias"].columns]
        return tuple(_Column(c.name, c.type, c.nullable) for c in renamed(names, bound.columns, cte))


def _named(bound: Bound, names: Iterable[str]) -> Bound:
    """The query with these names of its columns."""
    columns = zip(bound.columns, names, strict=True)
    return Bound(bound.operator, tuple(replace(column, name=name) for column, name in columns))


def _without(node: exp.Expression, unknown: frozenset[str]) -> exp.Expression | None:
    """The query without the branches of set operations that use `unknown` names; None if no branch is
    left."""
    if not table_names(node) & unknown and not any(recurring_nodes(name, node) for name in unknown):
        return node
    if isinstance(node, exp.SetOperation):
        sides = [_without(side, unknown) for side in (node.this, node.expression)]
        left = [side for side in sides if side is not None]
        if len(left) == 1 and node.args.get("with_"):
            left[0].set("with_", node.args["with_"])
        return left[0] if left else None
    for inner in node.find_all(exp.SetOperation):
        cut = _without(inner, unknown)
        if cut is not None and cut is not inner:
            inner.replace(cut)
            return _without(node, unknown)
    return None


def _wider(old: Type, new: Type) -> Type | None:
    """A type for both that changes no value; None if there is none."""
    if old == new or new is UNTYPED:
        return old
    if old is UNTYPED:
        return new
    if (old.is_integer and new.is_integer) or (old.is_float and new.is_float):
        return union_type(old, new)
    if old.kind is new.kind is Kind.NUMERIC:
        return numeric(MAX_PRECISION, max(old.scale or 0, new.scale or 0))
    return None
