"""Time zones that PostgreSQL takes as distances from UTC, as names that DuckDB knows.

at AT TIME ZONE '+05'               →   at AT TIME ZONE 'GMT-05:00'
at AT TIME ZONE INTERVAL '-08:00'   →   at AT TIME ZONE 'GMT-08:00'

A text has the sign of POSIX, in which places west of Greenwich are positive; an interval that of ISO 8601.
"""

from __future__ import annotations

import re

from sqlglot import exp

_OFFSET = re.compile(r"([-+]?)(\d\d?)(?::?(\d\d))?")


def zone_offset(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """AT TIME ZONE with a zone's name; None for any other node, and for a zone that is no distance."""
    zone = node.args.get("zone") if isinstance(node, exp.AtTimeZone) and dialect == "postgres" else None
    is_interval = isinstance(zone, exp.Interval) and zone.args.get("unit") is None
    written = zone.this if isinstance(zone, exp.Interval) and is_interval else zone
    if not isinstance(written, exp.Literal) or not written.is_string:
        return None
    offset = _OFFSET.fullmatch(written.name.strip())
    if offset is None or (is_interval and offset[3] is None):
        return None
    is_west = (offset[1] == "-") == is_interval
    found = node.copy()
    sign = "-" if is_west else "+"
    found.set("zone", exp.Literal.string(f"GMT{sign}{int(offset[2]):02}:{offset[3] or '00'}"))
    return found
