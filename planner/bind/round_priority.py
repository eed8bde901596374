"""The hint PRIORITY at a term of a recursion: the round in which the term's rows enter."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from engine.schema import BIGINT
from planner.bind.coercion import coerce
from planner.bind.dependence import Dependence, Variables
from planner.bind.expression_binder import ExpressionBinder
from planner.bind.name_scope import FromTable, NameScope
from planner.bind.session import Bound, Session
from planner.errors import InvalidQuery, TypeMismatch
from planner.ir import Prioritized
from planner.parsing.hints import priority_of
from planner.positions import fail, refuse


def prioritized(session: Session, node: exp.Select, recursion: Variables, bound: Bound) -> Bound:
    """The bound SELECT with its hint, if it has one; it is a term of the recursion with these variables, if
    any."""
    hint = priority_of(node)
    if hint is None:
        return bound
    if not recursion or Dependence(session).of(bound.operator, recursion):
        error = "PRIORITY is a hint for the terms of a recursion that do not recur"
        fail(InvalidQuery(error, "write it at a SELECT where the recursion starts"), hint)
    scope = NameScope.of(FromTable("", bound.columns))
    value = ExpressionBinder(session, scope, _no_query, "PRIORITY").bind(hint)
    if not value.type.is_integer:
        fail(TypeMismatch(f"PRIORITY is {value.type}, not an integer", "cast it to BIGINT"), hint)
    session.priorities[min(recursion)] = hint
    return Bound(Prioritized(bound.operator, coerce(value, BIGINT), min(recursion)), bound.columns)


def _no_query(query: exp.Expression, within: NameScope) -> NoReturn:
    refuse(query, "a subquery in PRIORITY is not supported")
