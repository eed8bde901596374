"""TUMBLE, HOP and SESSION: a table's rows with the windows of time that have them.

    TUMBLE(t, at, size)         →  SELECT *, start + size AS window_end FROM (SELECT *, start FROM t)
    HOP(t, at, slide, size)     →  the same with a row for each window that has the row
    SESSION(t, at, gap, (k))    →  the same with windows that end where no row of k follows within the gap

Windows begin at multiples of their size, or of their slide, since 1970; a further argument moves them. A
session takes in a row that comes exactly a gap after the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native import templates
from planner.positions import fail

START, END = "window_start", "window_end"
_FORMS = {
    "TUMBLE": "TUMBLE(table, time, size [, offset])",
    "HOP": "HOP(table, time, slide, size [, offset])",
    "SESSION": "SESSION(table [PARTITION BY key, ...], time, gap)",
}
_ORIGIN = "CAST('1970-01-01' AS TIMESTAMP)"
_BUCKET = f"time_bucket({{0}}, {{1}}, {_ORIGIN})"
_MOVED = f"time_bucket({{0}}, {{1}}, {_ORIGIN} + {{2}})"
NEW, NUMBER = "is new#", "session#"
"""Columns of a session's inner queries, which its answer leaves out."""


def is_window_call(node: object) -> bool:
    """Whether an item of FROM is one of the calls."""
    return isinstance(node, exp.Anonymous) and node.name.upper() in _FORMS and bool(node.expressions)


def window_table(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query of the call; None for any other item of FROM. Raises InvalidQuery for other arguments."""
    call = node.this if isinstance(node, exp.Table) else None
    if not isinstance(call, exp.Anonymous) or call.name.upper() not in _FORMS:
        return None
    name = call.name.upper()
    for span in call.find_all(exp.Interval):
        if span.this is not None and span.this.name.strip().startswith("-"):
            fail(InvalidQuery(f"{name} takes spans that are longer than nothing"), span)
    source, *arguments = call.expressions or [None]
    if not isinstance(source, exp.Column) or not 2 <= len(arguments) <= 4 - (name == "TUMBLE"):
        fail(InvalidQuery(f"{name} takes other arguments", _FORMS[name]), call)
    match name, arguments:
        case "TUMBLE", [at, size, *offset]:
            query = _with_end(_tumbled(_table(source), at, size, offset), size)
        case "HOP", [at, slide, size, *offset]:
            query = _with_end(_hopped(_table(source), at, slide, size, offset), size)
        case "SESSION", [at, gap, *keys]:
            query = _sessions(_table(source), at, gap, keys)
        case _:
            fail(InvalidQuery(f"{name} takes other arguments", _FORMS[name]), call)
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(source.name))
    return exp.Subquery(this=query, alias=alias, joins=node.args.get("joins"))


def _table(name: exp.Column) -> exp.Table:
    """The table that an argument names."""
    return exp.Table(this=name.this, db=name.args.get("table"), catalog=name.args.get("db"))


def _tumbled(
    table: exp.Table, at: exp.Expression, size: exp.Expression, offset: Sequence[exp.Expression]
) -> exp.Select:
    return exp.select(exp.Star(), exp.alias_(tumble_start(at, size, offset), START)).from_(table)


def tumble_start(
    at: exp.Expression, size: exp.Expression, offset: Sequence[exp.Expression]
) -> exp.Expression:
    """The start of the window that has the time."""
    return templates.sql(_MOVED if offset else _BUCKET, (size, at, *offset))


def _hopped(
    table: exp.Table,
    at: exp.Expression,
    slide: exp.Expression,
    size: exp.Expression,
    offset: Sequence[exp.Expression],
) -> exp.Select:
    return exp.select(exp.Star(), exp.alias_(hop_starts(at, slide, size, offset), START)).from_(table)


def hop_starts(
    at: exp.Expression, slide: exp.Expression, size: exp.Expression, offset: Sequence[exp.Expression]
) -> exp.Expression:
    """A row for each multiple of the slide that is at or before the time, and later than it less the size."""
    bucket = _MOVED if offset else _BUCKET
    before = templates.sql("{0} - {1}", (at, size))
    first = templates.sql("{0} + {1}", (templates.sql(bucket, (slide, before, *offset)), slide))
    last = templates.sql(bucket, (slide, at, *offset))
    return exp.Explode(this=exp.GenerateSeries(start=first, end=last, step=slide.copy()))


def _with_end(query: exp.Select, size: exp.Expression) -> exp.Select:
    end = templates.sql("{0} + {1}", (exp.column(START), size))
    return exp.select(exp.Star(), exp.alias_(end, END)).from_(query.subquery("windows"))


def _sessions(
    table: exp.Table, at: exp.Expression, gap: exp.Expression, keys: Sequence[exp.Expression]
) -> exp.Select:
    """The rows with a number for each session, from which its bounds follow."""
    keys = [part for key in keys for part in (key.expressions if isinstance(key, exp.Tuple) else [key])]
    is_new = exp.alias_(begins(at, gap, keys), NEW, quoted=True)
    inner = exp.select(exp.Star(), is_new).from_(table)
    number = exp.alias_(numbered(at, keys), NUMBER, quoted=True)
    sessions = exp.select(exp.Star(), number).from_(inner.subquery("rows"))
    star = exp.Star(except_=[exp.to_identifier(name, quoted=True) for name in (NEW, NUMBER)])
    begin, end = bounds(at, gap, keys)
    return exp.select(star, exp.alias_(begin, START), exp.alias_(end, END)).from_(
        sessions.subquery("sessions")
    )


def begins(at: exp.Expression, gap: exp.Expression, keys: Sequence[exp.Expression]) -> exp.Expression:
    """1 for a row that comes later than a gap after the one before it, else 0."""
    last = _over(exp.Lag(this=at.copy()), keys, at)
    return templates.sql(
        "CASE WHEN {0} + {1} >= {2} THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END", (last, gap, at)
    )


def numbered(at: exp.Expression, keys: Sequence[exp.Expression]) -> exp.Expression:
    """The number of a row's session among those of its keys, from the column NEW."""
    return _over(exp.Sum(this=exp.column(NEW, quoted=True)), keys, at)


def bounds(
    at: exp.Expression, gap: exp.Expression, keys: Sequence[exp.Expression]
) -> tuple[exp.Expression, exp.Expression]:
    """The start and the end of a row's session, from the column NUMBER."""
    whole = [*keys, exp.column(NUMBER, quoted=True)]
    begin, last = (_over(of(this=at.copy()), whole) for of in (exp.Min, exp.Max))
    return begin, templates.sql("{0} + {1}", (last, gap))


def _over(
    call: exp.Expression, keys: Sequence[exp.Expression], at: exp.Expression | None = None
) -> exp.Window:
    """The call over the rows of the keys, in the order of the time if it is given."""
    order = (
        exp.Order(expressions=[exp.Ordered(this=at.copy(), nulls_first=False)]) if at is not None else None
    )
    return exp.Window(this=call, partition_by=[key.copy() for key in keys], order=order, over="OVER")
