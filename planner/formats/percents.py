"""Percent languages: strftime's of SQLite and BigQuery, DATE_FORMAT's of MySQL, Trino and ClickHouse.

`%!` is an internal token, which only the formats behind abbreviations have.
"""

from __future__ import annotations

from dataclasses import replace

from planner.formats.elements import ELEMENTS as E
from planner.formats.elements import Element, fixed_text, fraction, lower_case, unpadded
from planner.formats.format_scanner import Tokens, percents

_ISO = {"F": "%Y-%m-%d", "D": "%m/%d/%y"}
_MINUTES_I = {"T": "%H:%i:%S", "R": "%H:%i"}
_MINUTES_M = {"T": "%H:%M:%S", "R": "%H:%M"}
_MYSQL: Tokens = {
    "a": E["Dy"],
    "b": E["Mon"],
    "c": unpadded(E["month"]),
    "D": replace(unpadded(E["day"]), ordinal="lower"),
    "d": E["day"],
    "e": unpadded(E["day"]),
    "f": E["micros"],
    "H": E["hour"],
    "h": E["hour of 12"],
    "I": E["hour of 12"],
    "i": E["minute"],
    "j": E["day of year"],
    "k": unpadded(E["hour"]),
    "l": unpadded(E["hour of 12"]),
    "M": E["Month"],
    "m": E["month"],
    "p": E["AM"],
    "S": E["second"],
    "s": E["second"],
    "U": E["week of Sundays"],
    "u": E["week in mode 1"],
    "V": E["week in mode 2"],
    "v": E["iso week"],
    "W": E["Day"],
    "w": E["day of week from 0"],
    "X": E["year in mode 2"],
    "x": E["iso year"],
    "Y": E["year"],
    "y": E["year of 2"],
    "%": fixed_text("%"),
}
_MYSQL_SHORT = {"T": _MINUTES_I["T"], "r": "%I:%i:%S %p"}
mysql = percents(_MYSQL, others="itself", short=_MYSQL_SHORT)
mysql_time = percents(
    {token: element if token in "fHhIiklpSs%" else None for token, element in _MYSQL.items()},
    others="itself",
    short=_MYSQL_SHORT,
)
trino = percents(
    {**_MYSQL, **dict.fromkeys(("D", "U", "u", "V", "w", "X"))}, others="itself", short=_MYSQL_SHORT
)
clickhouse = percents(
    {
        "a": E["Dy"],
        "b": E["Mon"],
        "c": E["month"],
        "C": E["hundreds"],
        "d": E["day"],
        "e": unpadded(E["day"]),
        "f": E["micros"],
        "g": E["iso year of 2"],
        "G": E["iso year"],
        "h": E["hour of 12"],
        "H": E["hour"],
        "i": E["minute"],
        "I": E["hour of 12"],
        "j": E["day of year"],
        "k": E["hour"],
        "l": E["hour of 12"],
        "m": E["month"],
        "M": E["Month"],
        "n": fixed_text("\n"),
        "p": E["AM"],
        "Q": E["quarter"],
        "s": E["second"],
        "S": E["second"],
        "t": fixed_text("\t"),
        "u": E["iso day of week"],
        "V": E["iso week"],
        "w": E["day of week from 0"],
        "W": E["Day"],
        "y": E["year of 2"],
        "Y": E["year"],
        "z": fixed_text("+0000"),
        "%": fixed_text("%"),
    },
    others="refused",
    short={**_ISO, **_MINUTES_I, "r": "%I:%i %p"},
)
_STRFTIME: Tokens = {
    "d": E["day"],
    "e": E["day, blank"],
    "G": E["iso year"],
    "g": E["iso year of 2"],
    "H": E["hour"],
    "I": E["hour of 12"],
    "j": E["day of year"],
    "k": E["hour, blank"],
    "l": E["hour of 12, blank"],
    "M": E["minute"],
    "m": E["month"],
    "P": lower_case(E["AM"]),
    "p": E["AM"],
    "S": E["second"],
    "s": E["epoch"],
    "U": E["week of Sundays"],
    "u": E["iso day of week"],
    "V": E["iso week"],
    "W": E["week of Mondays"],
    "w": E["day of week from 0"],
    "Y": E["year"],
    "%": fixed_text("%"),
}
_MILLIS = "(epoch_us({t}) + 500) // 1000"
"""SQLite keeps milliseconds, rounded; it writes the second as read, with a fraction of at most .999."""
_SECONDS = "second({t}) + microsecond({t}) % 1000000 / CAST(1000000 AS DOUBLE)"
sqlite = percents(
    {
        **_STRFTIME,
        "f": Element(f"format('{{:06.3f}}', least({_SECONDS}, 59.999))"),
        "s": Element(f"({_MILLIS}) // 1000 - CAST(({_MILLIS}) % 1000 < 0 AS INTEGER)", 1),
        "J": None,
    },
    others="refused",
    short={**_MINUTES_M, "F": _ISO["F"]},
)
_BIGQUERY_DATE: Tokens = {
    **{token: _STRFTIME[token] for token in "deGgjmUuVWwY%"},
    "A": E["Day"],
    "a": E["Dy"],
    "B": E["Month"],
    "b": E["Mon"],
    "C": E["hundreds"],
    "h": E["Mon"],
    "n": fixed_text("\n"),
    "Q": E["quarter"],
    "t": fixed_text("\t"),
    "y": E["year of 2"],
}
_BIGQUERY_TIME: Tokens = {
    **{token: _STRFTIME[token] for token in "HIklMPpS%"},
    "n": fixed_text("\n"),
    "t": fixed_text("\t"),
    **{f"!{digits}": fraction(digits) for digits in range(1, 10)},
}
_BIGQUERY: Tokens = {**_BIGQUERY_DATE, **_BIGQUERY_TIME, "E4Y": E["year"]}
_SHORT_DATE = {**_ISO, "x": _ISO["D"]}
_SHORT_TIME = {
    **_MINUTES_M,
    "X": _MINUTES_M["T"],
    **{f"E{digits}S": f"%S.%!{digits}" for digits in range(1, 10)},
}
_SHORT = {**_SHORT_DATE, **_SHORT_TIME, "c": "%a %b %e %T %Y"}
bigquery_date = percents(_BIGQUERY_DATE, others="refused", short=_SHORT_DATE)
bigquery_time = percents(_BIGQUERY_TIME, others="refused", short=_SHORT_TIME)
bigquery_datetime = percents(_BIGQUERY, others="refused", short=_SHORT)
bigquery_timestamp = percents(
    {
        **_BIGQUERY,
        "s": E["epoch"],
        "Z": fixed_text("UTC"),
        "z": fixed_text("+0000"),
        "Ez": fixed_text("+00:00"),
    },
    others="refused",
    short=_SHORT,
)
