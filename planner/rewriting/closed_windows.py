"""EMIT ON WINDOW CLOSE: the windows that no new row can change, because a watermark has passed their end.

    SELECT window_end, count(*) FROM TUMBLE(t, at, size) GROUP BY window_end EMIT ON WINDOW CLOSE
    →  SELECT ... GROUP BY window_end HAVING window_end + delay <= (SELECT max(at) FROM t)

A session takes in a row that comes exactly at its end, so the watermark has to have passed that by a
microsecond. The delay is known when the table is: until then it is a call that the parser puts there, and
`with_delays` replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp
from sqlglot.tokens import Token

from planner.errors import Unsupported
from planner.identifiers import column_name, relation_name
from planner.positions import refuse
from planner.relation import Watermark
from planner.rewriting.window_tables import END, is_window_call

_DELAY = "delay of the watermark"
_CLAUSE = "EMIT ON WINDOW CLOSE"
_FORM = "write FROM TUMBLE(table, time, INTERVAL '1 hour') and GROUP BY window_start, window_end before it"


def with_closed_windows(query: exp.Query, start: Token) -> exp.Query:
    """The query with only the windows that are closed. Raises Unsupported for one that has no windows."""
    place = start.line, start.col - (start.end - start.start)
    windows = list(_windows(query)) if isinstance(query, exp.Select) else []
    if not isinstance(query, exp.Select) or not windows:
        raise Unsupported(f"{_CLAUSE} of a query without windows in FROM is not supported", _FORM, *place)
    group = query.args.get("group")
    for name, _ in windows:
        end: exp.Expression = exp.column(END, name)
        if group is not None and not _is_grouped(group, name, len(windows) == 1):
            end = exp.Max(this=end)
        for _, call in windows:
            query = (query.where if group is None else query.having)(_is_closed(end, call), copy=False)
    query.meta[_CLAUSE] = place
    return query


def check_whole(union: exp.SetOperation) -> None:
    """Raises Unsupported if the clause stands behind a UNION, and so in its last query alone."""
    last = union.expression
    if isinstance(last, exp.Select) and _CLAUSE in last.meta:
        hint = "write it in each SELECT, in parentheses"
        place = last.meta[_CLAUSE]
        raise Unsupported(f"{_CLAUSE} behind UNION, EXCEPT or INTERSECT is not supported", hint, *place)


def with_delays(tree: exp.Expression, known: Callable[[str], Watermark | None]) -> None:
    """Put the delays of watermarks in their places, by the full names of tables. Raises Unsupported for a
    table that has no watermark for the column."""
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name != _DELAY:
            continue
        column, more = call.expressions
        comparison = call.find_ancestor(exp.LTE)
        assert comparison is not None
        table = comparison.expression.find(exp.Table)
        name = relation_name(table)
        watermark = None if name in _local_names(call) else known(name)
        if watermark is None or watermark.column != column_name(column.this):
            at = column.name
            refuse(
                table,
                f"{_CLAUSE} over {name}, which has no watermark for {at}, is not supported",
                f"CREATE TABLE ... (..., WATERMARK FOR {at} AS {at} - INTERVAL '5 minutes') APPEND ONLY",
            )
        span = exp.Literal.string(str(watermark.delay + int(more.name)))
        call.replace(exp.Interval(this=span, unit=exp.var("MICROSECOND")))


def watermark_of(relation: object) -> Watermark | None:
    """The watermark of a relation that is a table; those of the catalogs have none."""
    found = getattr(relation, "watermark", None)
    return found if isinstance(found, Watermark) else None


def _windows(query: exp.Select) -> Iterator[tuple[str, exp.Anonymous]]:
    """The calls in FROM that make windows, each with the name of its rows."""
    for item in (query.args.get("from_"), *(query.args.get("joins") or ())):
        table = item.this if item is not None else None
        if isinstance(table, exp.Table) and is_window_call(table.this):
            yield table.alias or table.this.expressions[0].name, table.this


def _is_grouped(group: exp.Group, name: str, alone: bool) -> bool:
    """Whether the ends of the windows with this name, perhaps the only ones, are among the keys."""
    ends = [key for key in group.expressions if isinstance(key, exp.Column) and key.name.lower() == END]
    return any(end.table == name or (alone and not end.table) for end in ends)


def _is_closed(end: exp.Expression, call: exp.Anonymous) -> exp.Expression:
    source, at = call.expressions[:2]
    newest = exp.select(exp.Max(this=at.copy())).from_(
        exp.Table(this=source.this.copy(), db=source.args.get("table"), catalog=source.args.get("db"))
    )
    more = exp.Literal.number(int(call.name.upper() == "SESSION"))
    delay = exp.Anonymous(this=_DELAY, expressions=[at.copy(), more])
    return exp.LTE(this=exp.Add(this=end.copy(), expression=delay), expression=newest.subquery())


def _local_names(node: exp.Expression) -> set[str]:
    """The names of the queries in WITH that are in sight."""
    found: set[str] = set()
    above = node.parent
    while above is not None:
        ctes = above.args.get("with_")
        found |= {cte.alias.lower() for cte in ctes.expressions} if ctes is not None else set()
        above = above.parent
    return found
