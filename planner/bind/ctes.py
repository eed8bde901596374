"""WITH: binds each query once, under a name that later queries can use.

In WITH RECURSIVE, names may stand in any order. Names on a cycle are bound together as a recursion; the
others are bound one by one, each after the names that it refers to.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from planner.bind.from_binder import renamed
from planner.bind.recursive_names import bind_mutual, bind_recursive
from planner.bind.references import components
from planner.bind.refuse import check_clauses
from planner.bind.session import BindQuery, Bound, Entry, Environment, Session
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, Unsupported
from planner.identifiers import fold
from planner.limits import count_relation
from planner.parsing.mutually import declaration_of
from planner.parsing.recursion_clauses import CLAUSES
from planner.parsing.table_references import recurring_nodes, table_names
from planner.positions import fail


def bind_with(
    session: Session, node: exp.With, environment: Environment, bind_query: BindQuery
) -> Environment:
    """The environment with the names of the WITH added."""
    check_clauses(node)
    queries: dict[str, exp.CTE] = {}
    for cte in node.expressions:
        count_relation(cte)
        check_clauses(cte)
        if cte.alias.lower() in queries:
            fail(InvalidQuery(f'"{cte.alias}" occurs twice in WITH'), cte.args["alias"])
        queries[cte.alias.lower()] = cte
    declaration = declaration_of(node)
    if declaration is not None:
        _check_plain(queries.values())
        return bind_mutual(session, queries, declaration, environment, bind_query)
    if not node.args.get("recursive"):
        for name, cte in queries.items():
            environment = environment.extended({name: bind_cte(session, cte, environment, bind_query)})
        return environment
    uses = {name: table_names(cte.this) | _recurring(session, name, cte) for name, cte in queries.items()}
    for group in components(uses):
        members = {name: queries[name] for name in group}
        if len(group) > 1:
            _check_plain(members.values())
        if len(group) > 1 or group[0] in uses[group[0]]:
            environment = bind_recursive(session, members, environment, bind_query)
        else:
            entry = bind_cte(session, members[group[0]], environment, bind_query)
            environment = environment.extended({group[0]: entry})
    return environment


def _check_plain(ctes: Iterable[exp.CTE]) -> None:
    """Raise Unsupported for a clause that only a query that alone refers to itself can have."""
    for cte in ctes:
        if any(cte.args.get(part) for part in (*CLAUSES, "key_expressions")):
            error = Unsupported(
                "SEARCH, CYCLE or USING KEY of a name that does not alone refer to itself is not supported",
                "write it in WITH RECURSIVE, at a query that refers to itself and to no later name",
            )
            fail(error, cte.args["alias"])


def _recurring(session: Session, name: str, cte: exp.CTE) -> frozenset[str]:
    """The name itself if its query reads all its rows so far, as DuckDB can."""
    reads = has(session.dialect, Trait.STEPS_READ_ANYTHING) and recurring_nodes(name, cte.this)
    return frozenset({name}) if reads else frozenset()


def bind_cte(session: Session, cte: exp.CTE, environment: Environment, bind_query: BindQuery) -> Entry:
    """One query that is not recursive."""
    _check_plain([cte])
    bound = bind_query(session, cte.this, environment.apart())
    names = [fold(identifier) for identifier in cte.args["alias"].columns]
    columns = renamed(names, bound.columns, cte)
    return session.define(Bound(bound.operator, columns))
