"""Conditions that DuckDB would compute although the dialect refuses them: `id > true`, `WHERE id`.

The planner refuses them in views. Here it is asked only if a query has a condition of this form, and
only what it says of types counts: DuckDB answers queries that no view can be.
"""

from __future__ import annotations

from sqlglot import exp

from planner.adhoc.from_clauses import Relations, catalog_of
from planner.bind import bind
from planner.dialects.traits import Trait, has
from planner.errors import PlannerError, TypeMismatch
from planner.identifiers import relation_name
from planner.relation_names import is_system

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_CONDITIONS = (exp.Where, exp.Having, exp.Not, exp.And, exp.Or, exp.If)
_BARE = (exp.Column, exp.Literal)


def check_kinds(query: exp.Expression, relations: Relations, dialect: str) -> None:
    """Raise TypeMismatch, with its place, for a boolean beside a number, and for a condition that is none."""
    if not has(dialect, Trait.KEEPS_KINDS_APART) or not any(map(_is_doubtful, query.walk())):
        return
    tables = (table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    if any(is_system(relation_name(table)) for table in tables):
        return  # their types are PostgreSQL's own
    plain = query.copy()
    for table in plain.find_all(exp.Table):
        for part in ("version", "when"):
            table.set(part, None)
    try:
        bind(plain, catalog_of(relations), dialect)
    except TypeMismatch:
        raise
    except PlannerError:
        return


def _is_doubtful(node: exp.Expr) -> bool:
    match node:
        case exp.Between():
            return any(isinstance(node.args[part], exp.Boolean) for part in ("this", "low", "high"))
        case exp.If():
            around = node.parent
            return isinstance(node.this, _BARE) and not (isinstance(around, exp.Case) and around.this)
        case _ if isinstance(node, _COMPARISONS):
            return isinstance(node.this, exp.Boolean) or isinstance(node.expression, exp.Boolean)
        case _ if isinstance(node, _CONDITIONS):
            return isinstance(node.this, _BARE) or isinstance(node.args.get("expression"), _BARE)
        case exp.Join():
            return isinstance(node.args.get("on"), _BARE)
    return False
