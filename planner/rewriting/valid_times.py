"""Tables at a valid time: `t FOR VALID_TIME ...` as a query of all rows of `t` and their periods.

    t FOR VALID_TIME AS OF x
    → (SELECT every other column FROM t FOR VALID_TIME ALL
       WHERE coalesce(valid_from, '-infinity') <= x AND x < coalesce(valid_to, 'infinity')) AS t

FROM a TO b keeps the rows whose periods have a moment from a on and before b, BETWEEN a AND b those that have
one from a to b; both keep the columns of the period too, and keep no row if there is no such moment. The time
may name columns of the tables on the left.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import NoReturn, Protocol

from sqlglot import exp

from engine.schema import Schema
from planner.clock_functions import reads_clock
from planner.errors import InvalidQuery, UnknownColumn
from planner.identifiers import relation_name
from planner.positions import fail

VALID_TIME = "VALID_TIME"
FROM, TO = "valid_from", "valid_to"
"""The names of a period's columns."""
PERIODS = (
    f"{FROM} >= TIMESTAMPTZ '0001-01-01 00:00:00+00' AND {FROM} < TIMESTAMPTZ '10000-01-01 00:00:00+00' "
    f"AND ({TO} IS NULL OR ({FROM} < {TO} AND {TO} < TIMESTAMPTZ '10000-01-01 00:00:00+00'))"
)
"""The condition that the periods of a table's rows meet: they end after they begin, in years 1 to 9999."""

_MONTHS = re.compile("MON|YEAR|QUARTER|DECADE|CENTUR|MILLEN", re.IGNORECASE)
"""What units of intervals with months are called."""


class _Timed(Protocol):
    """A relation, which may have a period."""

    @property
    def schema(self) -> Schema: ...

    @property
    def period(self) -> tuple[int, int] | None: ...


def valid_clause(table: exp.Expression) -> exp.Version | None:
    """What a table's reference says of valid time."""
    version = table.args.get("version")
    return version if isinstance(version, exp.Version) and version.name == VALID_TIME else None


def reads_all(table: exp.Expression) -> bool:
    """Whether the reference is to all rows with their periods."""
    clause = valid_clause(table)
    return clause is not None and clause.args["kind"] == "ALL"


def at_valid_time(
    table: exp.Table, clause: exp.Version, untimed: list[str], period: tuple[str, str]
) -> exp.Expression:
    """The query for a reference with a clause that is not ALL; the tree stays as it is."""
    inner = exp.Table(
        **{part: table.args[part].copy() for part in ("this", "db", "catalog") if table.args.get(part)},
        version=exp.Version(this=VALID_TIME, kind="ALL", state=_copied(clause.args.get("state"))),
    )
    ends = _ends(clause)
    names = untimed if clause.args["kind"] == "AS OF" else [*untimed, *period]
    query = exp.Select(expressions=[exp.column(exp.to_identifier(name, quoted=True)) for name in names])
    query = query.from_(inner, copy=False).where(*_conditions(clause, ends, period), copy=False)
    alias = _copied(table.args.get("alias")) or exp.TableAlias(this=table.this.copy())
    subquery = exp.Subquery(this=query, alias=None)
    if any(end.find(exp.Column) for end in ends):
        found: exp.Expression = exp.Lateral(this=subquery, alias=alias)
    else:
        subquery.set("alias", alias)
        found = subquery
    for node in found.walk():
        node.meta.update({k: v for k, v in table.this.meta.items() if k not in node.meta})
    for part in ("joins", "pivots"):
        if table.args.get(part):
            found.set(part, [each.copy() for each in table.args[part]])
    return found


def has_no_valid_time(name: str, clause: exp.Expression) -> NoReturn:
    """Raises InvalidQuery for a clause behind a relation whose rows have no period."""
    error = InvalidQuery(
        f"{name} has no valid time", "make the table with PERIOD VALID_TIME, or leave FOR VALID_TIME out"
    )
    fail(error, clause)


def moments_left_out(node: exp.Column, relations: Mapping[str, _Timed]) -> UnknownColumn | None:
    """The error for a column that is the beginning or end of a period which a reference leaves out; None for
    others. References count that stand in the FROM of a query around the column."""
    select = node.find_ancestor(exp.Select)
    while select is not None:
        for table in _sources(select):
            if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
                continue
            is_renamed = bool(table.alias_column_names or table.args.get("pivots"))
            known = None if is_renamed or reads_all(table) else relations.get(relation_name(table))
            if known is None or known.period is None:
                continue
            names = [known.schema.names[place].lower() for place in known.period]
            if node.name.lower() in names and node.table.lower() in ("", table.alias_or_name.lower()):
                hint = f"the moments are columns of `{table.name} FOR VALID_TIME ALL`"
                return UnknownColumn(f'unknown column "{node.name}"', hint)
        select = select.find_ancestor(exp.Select)
    return None


def _sources(select: exp.Select) -> list[exp.Expression]:
    """What stands in a query's FROM."""
    first = select.args.get("from_")
    sources = [] if first is None else [first.this]
    sources += [join.this for join in select.args.get("joins") or ()]
    return sources + [join.this for source in sources for join in source.args.get("joins") or ()]


def _conditions(
    clause: exp.Version, ends: list[exp.Expression], period: tuple[str, str]
) -> list[exp.Expression]:
    since, until = (
        exp.Coalesce(
            this=exp.column(exp.to_identifier(name, quoted=True)), expressions=[infinite_moment(infinite)]
        )
        for name, infinite in zip(period, ("-infinity", "infinity"), strict=True)
    )
    match clause.args["kind"]:
        case "AS OF":
            (at,) = ends
            return [exp.LTE(this=since, expression=at), exp.GT(this=until, expression=at.copy())]
        case kind:
            first, last = ends
            before = exp.LT if kind == "FROM" else exp.LTE
            rows: list[exp.Expression] = [
                before(this=since, expression=last),
                exp.GT(this=until, expression=first),
            ]
            is_open = any(isinstance(end, exp.Null) for end in clause.expression.expressions)
            return rows if is_open else [*rows, _in_order(before(this=first.copy(), expression=last.copy()))]


def _in_order(before: exp.LT | exp.LTE) -> exp.Expression:
    """The comparison of the two ends of a range, which both may follow the clock.

    A view cannot compare the clock with itself. Which end comes first is the same at every moment, so any
    will do, unless months are compared with other intervals: their lengths differ.
    """
    first, last = sides = before.this, before.expression
    clocks = [[node for node in side.walk() if reads_clock(node)] for side in sides]
    has_months = any(_MONTHS.search(side.sql()) for side in sides)
    any_will_do = first == last or not has_months or any(map(_is_now, sides))
    if all(clocks) and any_will_do:
        for node in itertools.chain(*clocks):
            node.replace(moment_of(exp.Literal.string("2000-01-01 00:00:00+00")))
    return before


def _is_now(end: exp.Expression) -> bool:
    return reads_clock(end.this if isinstance(end, exp.Cast) else end)


def _ends(clause: exp.Version) -> list[exp.Expression]:
    """The time, or the two ends, as moments; NULL as an end means that there is none."""
    value = clause.expression
    if not isinstance(value, exp.Tuple):
        return [moment_of(value)]
    given = zip(value.expressions, ("-infinity", "infinity"), strict=True)
    return [infinite_moment(open) if isinstance(end, exp.Null) else moment_of(end) for end, open in given]


def moment_of(value: exp.Expression) -> exp.Expression:
    """The value as a moment."""
    if isinstance(value, exp.CurrentTimestamp):
        return value.copy()
    return exp.Cast(this=value.copy(), to=exp.DataType.build("TIMESTAMPTZ"))


def infinite_moment(sign: str) -> exp.Expression:
    """`infinity` or `-infinity` as a moment."""
    return moment_of(exp.Literal.string(sign))


def _copied(node: exp.Expression | None) -> exp.Expression | None:
    return None if node is None else node.copy()
