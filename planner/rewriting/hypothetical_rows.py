"""Ranks of a row that is not there, among those of a group.

rank(4800) WITHIN GROUP (ORDER BY salary)         →  1 + the rows before 4800
dense_rank(4800) WITHIN GROUP (ORDER BY salary)   →  1 + the distinct values before it
percent_rank(4800) WITHIN GROUP (ORDER BY salary) →  the rows before it / all rows
cume_dist(4800) WITHIN GROUP (ORDER BY salary)    →  (1 + the rows before it or beside it) / (1 + all rows)
"""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native.templates import sql
from planner.positions import fail, refuse

_DIALECTS = frozenset({"oracle", "postgres"})
_RANKS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)


def hypothetical_rank(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The rank as counts of rows; None for any other node."""
    condition = node.expression.this if isinstance(node, exp.Filter) else None
    call = node.this if isinstance(node, exp.Filter) else node
    if not isinstance(call, exp.WithinGroup) or isinstance(call.parent, exp.Filter) is (condition is None):
        return None
    rank, terms = call.this, call.expression.expressions
    if dialect not in _DIALECTS or not isinstance(rank, _RANKS):
        return None
    values = rank.expressions
    if len(values) != len(terms):
        fail(InvalidQuery(f"there are {len(values)} values, and an order of {len(terms)}"), node)
    counted = exp.paren(_counted(rank, values, terms, condition), copy=False)
    is_item = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
    return exp.Alias(this=counted, alias=exp.to_identifier(rank.sql_name().lower())) if is_item else counted


def _counted(
    rank: exp.Expr, values: list[exp.Expr], terms: list[exp.Ordered], condition: exp.Expr | None
) -> exp.Expr:
    before = exp.or_(*(_first(values, terms, place) for place in range(len(terms))))
    beside = exp.and_(*map(_is_same, values, terms))
    rows = _count(exp.Star(), before, condition)
    match rank:
        case exp.Rank():
            return sql("1 + {0}", [rows])
        case exp.DenseRank():
            return sql("1 + {0}", [_count(_distinct(terms), before, condition)])
        case exp.PercentRank():
            every = _count(exp.Star(), None, condition)
            return sql("CASE WHEN {1} = 0 THEN 0e0 ELSE CAST({0} AS DOUBLE) / {1} END", [rows, every])
    others = [_count(exp.Star(), exp.or_(before, beside), condition), _count(exp.Star(), None, condition)]
    return sql("CAST(1 + {0} AS DOUBLE) / (1 + {1})", others)


def _distinct(terms: list[exp.Ordered]) -> exp.Expr:
    if len(terms) > 1:
        hint = "rank by one expression"
        refuse(terms[1], "dense_rank of several hypothetical values is not supported", hint)
    if terms[0].args.get("nulls_first"):
        hint = "order with NULLS LAST"
        refuse(terms[0], "dense_rank of a hypothetical value behind NULL is not supported", hint)
    return exp.Distinct(expressions=[terms[0].this.copy()])


def _count(counted: exp.Expr, rows: exp.Expr | None, condition: exp.Expr | None) -> exp.Expr:
    """The count, of those rows for which both conditions hold."""
    tests = [each.copy() for each in (rows, condition) if each is not None]
    count = exp.Count(this=counted)
    return exp.Filter(this=count, expression=exp.Where(this=exp.and_(*tests))) if tests else count


def _first(values: list[exp.Expr], terms: list[exp.Ordered], place: int) -> exp.Expr:
    """Whether a row comes before the values by the term in this place, and is the same by those before it."""
    tests = [_is_same(values[each], terms[each]) for each in range(place)]
    return exp.and_(*tests, _is_before(values[place], terms[place]))


def _is_before(value: exp.Expr, term: exp.Ordered) -> exp.Expr:
    sign = ">" if term.args.get("desc") else "<"
    null, other = ("{1} IS NOT NULL", "false") if term.args.get("nulls_first") else ("false", "true")
    test = f"CASE WHEN {{0}} IS NULL THEN {null} WHEN {{1}} IS NULL THEN {other} ELSE {{0}} {sign} {{1}} END"
    return sql(test, [term.this, value])


def _is_same(value: exp.Expr, term: exp.Ordered) -> exp.Expr:
    return sql("{0} IS NOT DISTINCT FROM {1}", [term.this, value])
