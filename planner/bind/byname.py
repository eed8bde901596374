"""Set operations BY NAME and CORRESPONDING, which pair columns by name."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from engine.plan.expressions import Literal
from planner.bind.session import Bound, Session
from planner.errors import AmbiguousColumn, UnknownColumn
from planner.ir import Attribute, Project
from planner.positions import fail
from planner.sql_types import UNTYPED


def by_name(session: Session, node: exp.SetOperation, left: Bound, right: Bound) -> tuple[Bound, Bound]:
    """Both queries with the same columns: all columns of both, in the left query's order, NULL where one
    lacks a column. INNER keeps the columns that both have, LEFT those of the left query."""
    ours, theirs = _names(node.this, left), _names(node.expression, right)
    if node.args.get("on"):
        wanted = [column.name.lower() for column in node.args["on"]]
        for name, column in zip(wanted, node.args["on"], strict=True):
            if name not in ours or name not in theirs:
                fail(UnknownColumn(f'column "{column.name}" is not on both sides'), column)
    elif (node.args.get("kind") or "").upper() == "INNER":
        wanted = [name for name in ours if name in theirs]
    elif (node.args.get("side") or "").upper() == "LEFT":
        wanted = list(ours)
    else:
        wanted = list(dict.fromkeys((*ours, *theirs)))
    called = {**{n: c.name for n, c in theirs.items()}, **{n: c.name for n, c in ours.items()}}
    names = [called[name] for name in wanted]
    return (
        _with(session, left, [ours.get(name) for name in wanted], names),
        _with(session, right, [theirs.get(name) for name in wanted], names),
    )


def _names(node: exp.Expression, bound: Bound) -> dict[str, Attribute]:
    names: dict[str, Attribute] = {}
    for column in bound.columns:
        if column.name.lower() in names:
            fail(AmbiguousColumn(f'column "{column.name}" occurs twice'), node)
        names[column.name.lower()] = column
    return names


def _with(session: Session, bound: Bound, columns: list[Attribute | None], names: list[str]) -> Bound:
    """The query with the columns under the given names; NULL for None."""
    missing = [session.attribute(name, UNTYPED, True) for name in names]
    found = [column or new for column, new in zip(columns, missing, strict=True)]
    items = tuple((c, Literal(None, UNTYPED) if c in missing else c.ref) for c in found)
    named = tuple(replace(column, name=name) for column, name in zip(found, names, strict=True))
    return Bound(Project(bound.operator, items), named)
