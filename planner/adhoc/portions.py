"""UPDATE and DELETE of tables with valid time: the portion of it in which rows change.

    UPDATE t FOR PORTION OF VALID_TIME FROM a TO b SET ...

changes the rows whose periods have a moment from a on and before b, from there until then; what they were
before and after stays. Without the clause, a portion begins now and has no end. With FOR VALID_TIME ALL rows
are changed as they are stored, together with their periods.

A portion is two more columns of the statement's query: the moments from and until which a row changes.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from engine.schema import Schema
from planner.adhoc.from_clauses import Relations
from planner.errors import InvalidQuery
from planner.positions import fail, refuse
from planner.rewriting.valid_times import has_no_valid_time, infinite_moment, moment_of, valid_clause


@dataclass(frozen=True)
class Portion:
    """The values of the two columns, and the condition that a row changes."""

    since: exp.Expression
    until: exp.Expression
    condition: exp.Expr


def take_portion(tree: exp.Expression, table: str, relations: Relations) -> Portion | None:
    """The portion of a statement's table, without the clause that says so; None if rows change as a whole.

    Raises InvalidQuery for a clause behind a table without valid time, and Unsupported for any other clause.
    """
    node, known = tree.this, relations[table]
    clause = valid_clause(node)
    if known.period is None:
        if clause is not None:
            has_no_valid_time(node.name, clause)
        return None
    node.set("version", None)
    kind = "NOW" if clause is None else clause.args["kind"]
    if kind == "ALL":
        return None
    if kind not in ("NOW", "PORTION"):
        hint = "write FOR PORTION OF VALID_TIME FROM ... TO ..., or FOR VALID_TIME ALL"
        refuse(node, f"FOR VALID_TIME {kind} of a change is not supported", hint)
    begin, end = (exp.CurrentTimestamp(), exp.Null()) if clause is None else clause.expression.expressions
    names = (known.schema.names[place] for place in known.period)
    since, until = (
        exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(node.alias or node.name))
        for name in names
    )
    first, last = moment_of(begin), moment_of(end)
    return Portion(
        exp.Greatest(this=since.copy(), expressions=[first], ignore_nulls=True),
        exp.Least(this=until.copy(), expressions=[last], ignore_nulls=True),
        exp.and_(
            exp.LT(this=_or(since, "-infinity"), expression=_or(last, "infinity")),
            exp.GT(this=_or(until, "infinity"), expression=_or(first, "-infinity")),
            exp.LT(this=_or(first, "-infinity"), expression=_or(last, "infinity")),
            copy=False,
        ),
    )


def check_set(
    columns: tuple[int, ...], period: tuple[int, int], schema: Schema, node: exp.Expression
) -> None:
    """Raises InvalidQuery if an UPDATE of a portion sets a column of the period."""
    for column in columns:
        if column in period:
            name = schema.names[column]
            fail(
                InvalidQuery(
                    f"column {name} is the period's: an UPDATE of a portion of valid time cannot set it",
                    "write UPDATE ... FOR VALID_TIME ALL SET to change rows together with their periods",
                ),
                node,
            )


def _or(value: exp.Expression, infinite: str) -> exp.Expression:
    return exp.Coalesce(this=value.copy(), expressions=[infinite_moment(infinite)])
