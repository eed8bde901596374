"""Spark's window() and session_window(): the windows of time of a query's rows, as structs.

    SELECT window.start, count(*)   →   SELECT window.start, count(*) FROM (
    FROM t                                SELECT t.*, {start, end} AS window FROM t WHERE at IS NOT NULL) AS t
    GROUP BY window(at, '1 hour')       GROUP BY window

With a slide a row has a window for each start that is near enough. Sessions are told apart by what else the
query groups by. Rows without a time have no window.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native import templates
from planner.positions import fail, refuse
from planner.rewriting.enclosed_rows import enclose, own
from planner.rewriting.group_keys import group_keys
from planner.rewriting.window_tables import NEW, NUMBER, begins, bounds, hop_starts, numbered, tumble_start

_DIALECTS = frozenset({"databricks", "spark", "spark2"})
_ARGUMENTS = {"WINDOW": (2, 4), "SESSION_WINDOW": (2, 2)}
_FORMS = {"WINDOW": "window(time, size [, slide [, offset]])", "SESSION_WINDOW": "session_window(time, gap)"}
_START = "start#"
"""The column of an inner query from which a window is made."""
_STRUCT = 'struct_pack("start" := {0}, "end" := {1})'
_LONG = re.compile(r"\b(mons?|months?|y|yrs?|years?|quarters?)\b", re.IGNORECASE)


def spark_window(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query with its windows as columns, and window_time; None for any other node. Raises InvalidQuery
    and Unsupported."""
    if dialect not in _DIALECTS:
        return None
    if isinstance(node, exp.Anonymous) and node.name.upper() == "WINDOW_TIME" and len(node.expressions) == 1:
        return templates.sql("struct_extract({0}, 'end') - INTERVAL 1 MICROSECOND", node.expressions)
    if not isinstance(node, exp.Select) or not _calls(node):
        return None
    query = node.copy()
    calls = _calls(query)
    for call in calls:
        _check(call, calls[0])
    name = calls[0].name.lower()
    at = calls[0].expressions[0]
    query.where(exp.Not(this=exp.Is(this=at.copy(), expression=exp.Null())), copy=False)
    if name == "window":
        _with_windows(query)
    else:
        _with_sessions(query)
    for call in _calls(query):
        call.replace(exp.column(name))
    return query


def _calls(query: exp.Select) -> list[exp.Anonymous]:
    return [call for call in own(query, exp.Anonymous) if call.name.upper() in _ARGUMENTS]


def _check(call: exp.Anonymous, first: exp.Anonymous) -> None:
    """Raise for a call with other arguments, and for one of another window than the first."""
    name = call.name.upper()
    least, most = _ARGUMENTS[name]
    if not least <= len(call.expressions) <= most:
        fail(InvalidQuery(f"{name.lower()} takes other arguments", _FORMS[name]), call)
    if (name, call.expressions) != (first.name.upper(), first.expressions):
        hint = "group by one window in a query in FROM, and by the other outside"
        refuse(call, "several windows of time in one query are not supported", hint)
    for length in call.expressions[1:]:
        if not isinstance(length, exp.Literal) or not length.is_string:
            hint = "write a text such as '10 minutes'"
            refuse(call, f"a length of {name.lower()} that is no constant is not supported", hint)
        if _LONG.search(length.name):
            fail(InvalidQuery("a window of time is measured in weeks or smaller units"), call)


def _length(text: exp.Expr) -> exp.Expression:
    return templates.sql("CAST({0} AS INTERVAL)", (text,))


def _with_windows(query: exp.Select) -> None:
    """Give the rows of the query their windows."""
    kept = frozenset({"window"})
    at, size, *rest = _calls(query)[0].expressions
    slide, *offset = map(_length, rest) if rest else (_length(size),)
    size = _length(size)
    if rest and rest[0] != _calls(query)[0].expressions[1]:
        starts = hop_starts(at, slide, size, offset)
    else:
        starts = tumble_start(at, size, offset)
    enclose(query, [exp.alias_(starts, _START, quoted=True)], ("where",), kept)
    start = exp.column(_START, quoted=True)
    end = templates.sql("{0} + {1}", (start, size))
    enclose(query, [exp.alias_(templates.sql(_STRUCT, (start, end)), "window")], (), kept)


def _with_sessions(query: exp.Select) -> None:
    """Give the rows of the query their sessions; each step reads its columns from the step before."""
    kept = frozenset({"session_window"})
    if query.args.get("group") is None:
        hint = "group by it, or write FROM TABLE(SESSION(TABLE t, DESCRIPTOR(time), INTERVAL '1' HOUR))"
        refuse(_calls(query)[0], "session_window without GROUP BY is not supported", hint)
    enclose(query, [exp.alias_(begins(*_session(query)), NEW, quoted=True)], ("where",), kept)
    at, _, keys = _session(query)
    enclose(query, [exp.alias_(numbered(at, keys), NUMBER, quoted=True)], (), kept)
    window = templates.sql(_STRUCT, bounds(*_session(query)))
    enclose(query, [exp.alias_(window, "session_window")], (), kept)


def _session(query: exp.Select) -> tuple[exp.Expression, exp.Expression, list[exp.Expression]]:
    """The time, the gap, and what else the query groups by."""
    call = _calls(query)[0]
    at, gap = call.expressions
    keys = group_keys(query, call, "session_window")
    return at, _length(gap), [key for key in keys if key != call]
