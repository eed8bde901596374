"""The settings that a session has: their defaults, and which values they take here.

A setting takes any value if that does no harm, because the service need not act on it. Where only one value
is true here, another is refused.

Source of names and defaults: PostgreSQL 15's manual, "Server Configuration".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from planner.errors import InvalidQuery
from planner.parsing.search_path import search_path
from service.errors import Invalid
from service.pgcatalog.view_rows import VERSION, VERSION_NUMBER
from service.reading.session_zones import session_zone

REPORTED = (
    "server_version",
    "server_encoding",
    "client_encoding",
    "application_name",
    "is_superuser",
    "session_authorization",
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "integer_datetimes",
    "standard_conforming_strings",
    "default_transaction_read_only",
    "in_hot_standby",
)
"""What a client is told of at the start, and at each change."""
_UNITS = {"": 1, "us": 0.001, "ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_ON = {
    **dict.fromkeys(("on", "true", "yes", "1", "t"), "on"),
    **dict.fromkeys(("off", "false", "no", "0", "f"), "off"),
}


def _any(value: str) -> str:
    return value


def _switch(value: str) -> str:
    found = _ON.get(value.lower())
    if found is None:
        raise _invalid("a switch is on or off")
    return found


def _encoding(value: str) -> str:
    if re.sub(r"[^a-z0-9]", "", value.lower()) not in ("utf8", "unicode", "default"):
        raise _invalid("the only encoding is UTF8")
    return "UTF8"


def _date_style(value: str) -> str:
    style = value.lower().split(",")[0].strip()
    if style not in ("iso", "default", "mdy", "dmy", "ymd"):
        raise _invalid("dates are written in the style ISO")
    return "ISO, MDY"


def _interval_style(value: str) -> str:
    if value.lower() != "postgres":
        raise _invalid("intervals are written in the style postgres")
    return "postgres"


def _milliseconds(value: str) -> str:
    match = re.fullmatch(r"\s*([0-9]{1,10})\s*(us|ms|s|min|h|d|)\s*", value)
    if match is None:
        raise _invalid("a time is a number with a unit: ms, s, min, h or d")
    return str(int(int(match[1]) * _UNITS[match[2]]))


def _isolation(value: str) -> str:
    if value.lower() not in ISOLATIONS:
        raise _invalid(f"an isolation is one of {', '.join(ISOLATIONS)}")
    return value.lower()


def _digits(value: str) -> str:
    if not re.fullmatch(r"-?[0-9]{1,2}", value):
        raise _invalid("a number from -15 to 3 is expected")
    return value


def _search_path(value: str) -> str:
    try:
        search_path(value)
    except InvalidQuery as error:
        raise _invalid(error.hint) from None
    return value


def _invalid(hint: str) -> Invalid:
    return Invalid("", hint, code="invalid_setting")


ISOLATIONS = ("read uncommitted", "read committed", "repeatable read", "serializable")


@dataclass(frozen=True)
class SessionSetting:
    """`check` brings a value into its form, or raises Invalid with a hint."""

    default: str
    check: Callable[[str], str] = _any


def _fixed(default: str) -> SessionSetting:
    def check(value: str) -> str:
        if value.lower() != default.lower():
            raise _invalid(f"it is {default or 'empty'} here")
        return default

    return SessionSetting(default, check)


def _zone(value: str) -> str:
    try:
        return session_zone(value).name
    except ValueError:
        raise _invalid("pg_timezone_names lists the names; an offset is a number of hours") from None


KNOWN: dict[str, SessionSetting] = {
    "allow_system_table_mods": SessionSetting("off", _switch),
    "application_name": SessionSetting(""),
    "backslash_quote": SessionSetting("safe_encoding"),
    "bytea_output": _fixed("hex"),
    "check_function_bodies": SessionSetting("on", _switch),
    "client_encoding": SessionSetting("UTF8", _encoding),
    "client_min_messages": SessionSetting("notice"),
    "cursor_tuple_fraction": SessionSetting("0.1"),
    "DateStyle": SessionSetting("ISO, MDY", _date_style),
    "default_tablespace": SessionSetting(""),
    "default_table_access_method": SessionSetting("heap"),
    "default_transaction_isolation": SessionSetting("read committed", _isolation),
    "default_transaction_read_only": SessionSetting("off", _switch),
    "default_transaction_deferrable": SessionSetting("off", _switch),
    "enable_hashagg": SessionSetting("on", _switch),
    "enable_hashjoin": SessionSetting("on", _switch),
    "enable_indexscan": SessionSetting("on", _switch),
    "enable_mergejoin": SessionSetting("on", _switch),
    "enable_nestloop": SessionSetting("on", _switch),
    "enable_seqscan": SessionSetting("on", _switch),
    "extra_float_digits": SessionSetting("1", _digits),
    "geqo": SessionSetting("on", _switch),
    "idle_in_transaction_session_timeout": SessionSetting("0", _milliseconds),
    "idle_session_timeout": SessionSetting("0", _milliseconds),
    "in_hot_standby": _fixed("off"),
    "integer_datetimes": _fixed("on"),
    "IntervalStyle": SessionSetting("postgres", _interval_style),
    "is_superuser": _fixed("off"),
    "jit": SessionSetting("off", _switch),
    "lc_messages": SessionSetting("C"),
    "lc_monetary": SessionSetting("C"),
    "lc_numeric": SessionSetting("C"),
    "lc_time": SessionSetting("C"),
    "lc_collate": _fixed("C"),
    "lc_ctype": _fixed("C.UTF-8"),
    "lock_timeout": SessionSetting("0", _milliseconds),
    "max_identifier_length": _fixed("63"),
    "max_index_keys": _fixed("32"),
    "escape_string_warning": SessionSetting("on", _switch),
    "plan_cache_mode": SessionSetting("auto"),
    "quote_all_identifiers": SessionSetting("off", _switch),
    "row_security": SessionSetting("on", _switch),
    "search_path": SessionSetting('"$user", public', _search_path),
    "server_encoding": _fixed("UTF8"),
    "server_version": _fixed(VERSION),
    "server_version_num": _fixed(VERSION_NUMBER),
    "session_authorization": SessionSetting(""),
    "session_replication_role": SessionSetting("origin"),
    "standard_conforming_strings": _fixed("on"),
    "statement_timeout": SessionSetting("0", _milliseconds),
    "synchronize_seqscans": SessionSetting("on", _switch),
    "synchronous_commit": SessionSetting("on"),
    "tcp_keepalives_idle": SessionSetting("0"),
    "tcp_keepalives_interval": SessionSetting("0"),
    "tcp_keepalives_count": SessionSetting("0"),
    "tcp_user_timeout": SessionSetting("0"),
    "TimeZone": SessionSetting("UTC", _zone),
    "transaction_isolation": SessionSetting("read committed", _isolation),
    "transaction_read_only": SessionSetting("off", _switch),
    "transaction_deferrable": SessionSetting("off", _switch),
    "work_mem": SessionSetting("4MB"),
    "maintenance_work_mem": SessionSetting("64MB"),
    "xmloption": SessionSetting("content"),
}
"""Every setting that a session has. One with a dot in its name is the client's own."""
BY_LOWER = {name.lower(): name for name in KNOWN}
READ_ONLY = frozenset({"server_version", "server_version_num", "server_encoding", "is_superuser"})
