"""Time zones that PostgreSQL takes as distances from UTC, as names that DuckDB knows.

at AT TIME ZONE '+05'               →   at AT TIME ZONE 'GMT-05:00'
at AT TIME ZONE INTERVAL '-08:00'   →   at AT TIME ZONE 'GMT-08:00'
at AT TIME ZONE 'PST'               →   at AT TIME ZONE 'GMT-08:00'

A text has the sign of POSIX, in which places west of Greenwich are positive; an interval that of ISO 8601.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.systems.postgres_zones import offset_of_zone

_NONE = "+00:00"
_OFFSET = re.compile(r"([-+]?)(\d\d?)(?::?(\d\d))?")


def zone_offset(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """AT TIME ZONE with a zone's name; None for any other node, and for a zone that is no distance."""
    zone = node.args.get("zone") if isinstance(node, exp.AtTimeZone) and dialect == "postgres" else None
    is_interval = isinstance(zone, exp.Interval) and zone.args.get("unit") is None
    written = zone.this if isinstance(zone, exp.Interval) and is_interval else zone
    if not isinstance(written, exp.Literal) or not written.is_string:
        return None
    offset = _distance(written.name.strip(), is_interval)
    if offset is None:
        return None
    found = node.copy()
    found.set("zone", exp.Literal.string("UTC" if offset == _NONE else f"GMT{offset}"))
    return found


def _distance(written: str, is_interval: bool) -> str | None:
    """A zone's distance from UTC with the sign of ISO 8601."""
    offset = _OFFSET.fullmatch(written)
    if offset is None:
        return None if is_interval else offset_of_zone(written)
    if is_interval and offset[3] is None:
        return None
    is_west = (offset[1] == "-") == is_interval
    return f"{'-' if is_west else '+'}{int(offset[2]):02}:{offset[3] or '00'}"
