"""The settings of a session: what drivers and tools set, and what the service says to it.

A setting is `free` if any value does no harm, because the service need not act on it; `fixed` if only one
value is true here, so that another is refused, or kept with a notice where drivers send it unasked; the others
have rules of their own. Values set in a block return with its ROLLBACK; those of SET LOCAL at its end.

Source of names and defaults: PostgreSQL 15's manual, "Server Configuration".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.errors import Invalid

VERSION = "15.0"
"""The release whose protocol and catalog clients find; drivers look at the number alone."""
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
_UTC = frozenset({"utc", "etc/utc", "gmt", "z", "zulu", "universal", "etc/gmt", "etc/universal", "0"})
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


def _invalid(hint: str) -> Invalid:
    return Invalid("", hint, code="invalid_setting")


ISOLATIONS = ("read uncommitted", "read committed", "repeatable read", "serializable")


@dataclass(frozen=True)
class SessionSetting:
    """`check` brings a value into its form, or raises Invalid with a hint. `is_kept` says that another value
    than the default is not refused, but has no effect, and the client gets a notice."""

    default: str
    check: Callable[[str], str] = _any
    is_kept: bool = False


def _fixed(default: str) -> SessionSetting:
    def check(value: str) -> str:
        if value.lower() != default.lower():
            raise _invalid(f"it is {default or 'empty'} here")
        return default

    return SessionSetting(default, check)


def _utc(value: str) -> str:
    if value.lower() not in _UTC:
        raise _invalid("moments are written in UTC: convert them in the client, or with AT TIME ZONE")
    return "UTC"


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
    "search_path": SessionSetting('"$user", public'),
    "server_encoding": _fixed("UTF8"),
    "server_version": _fixed(VERSION),
    "server_version_num": _fixed("150000"),
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
    "TimeZone": SessionSetting("UTC", _utc, True),
    "transaction_isolation": SessionSetting("read committed", _isolation),
    "transaction_read_only": SessionSetting("off", _switch),
    "transaction_deferrable": SessionSetting("off", _switch),
    "work_mem": SessionSetting("4MB"),
    "maintenance_work_mem": SessionSetting("64MB"),
    "xmloption": SessionSetting("content"),
}
"""Every setting that a session has. One with a dot in its name is the client's own."""
_BY_LOWER = {name.lower(): name for name in KNOWN}
_READ_ONLY = frozenset({"server_version", "server_version_num", "server_encoding", "is_superuser"})


class SessionSettings:
    """`told` is called with the name and value of each reported setting that changes."""

    def __init__(self, told: Callable[[str, str], None], noticed: Callable[[str, str], None]) -> None:
        self._told = told
        self._noticed = noticed
        self._given: dict[str, str] = {}
        """The values of the start-up, to which RESET returns."""
        self._set: dict[str, str] = {}
        self._before: dict[str, str] | None = None
        """What was set when the block began; None outside blocks."""
        self._local: dict[str, str] = {}

    def begin(self, given: Mapping[str, str]) -> None:
        """Takes the settings of the start-up. One that the service does not know is not refused."""
        for name, value in given.items():
            if name.lower() in _BY_LOWER or "." in name:
                self._given[name_of(name)] = self._checked(name_of(name), value)

    def fix(self, name: str, value: str) -> None:
        """Sets what the service alone decides."""
        self._given[name] = value

    @property
    def values(self) -> Mapping[str, str]:
        """What has been set, by name in lower case."""
        found = {**self._given, **self._set, **self._local}
        return {name.lower(): value for name, value in found.items()}

    def get(self, name: str) -> str:
        """The value of a setting. Raises Invalid for an unknown one."""
        name = name_of(name)
        for layer in (self._local, self._set, self._given):
            if name in layer:
                return layer[name]
        if name not in KNOWN:
            raise _unknown(name)
        return KNOWN[name].default

    def milliseconds(self, name: str) -> int:
        return int(self.get(name))

    def set(self, name: str, value: str | None, local: bool = False) -> None:
        """Sets a value; None is the default. SET LOCAL lasts until the end of the block."""
        name = name_of(name)
        before = self.get(name) if name in KNOWN else ""
        if value is None:
            self._set.pop(name, None)
            self._local.pop(name, None)
        else:
            checked = self._checked(name, value)
            if local and self._before is None:
                return
            (self._local if local else self._set)[name] = checked
            if not local:
                self._local.pop(name, None)
        self._tell(name, before)

    def reset_all(self) -> None:
        before = {name: self.get(name) for name in REPORTED}
        self._set.clear()
        self._local.clear()
        for name, value in before.items():
            self._tell(name, value)

    def all(self) -> list[tuple[str, str]]:
        names = sorted({*KNOWN, *self._given, *self._set}, key=str.lower)
        return [(name, self.get(name)) for name in names]

    # Blocks

    def begin_block(self) -> None:
        self._before = dict(self._set)

    def end_block(self, committed: bool) -> None:
        before = {name: self.get(name) for name in REPORTED}
        if not committed and self._before is not None:
            self._set = self._before
        self._before = None
        self._local.clear()
        for name, value in before.items():
            self._tell(name, value)

    def _tell(self, name: str, before: str) -> None:
        if name in REPORTED and self.get(name) != before:
            self._told(name, self.get(name))

    def _checked(self, name: str, value: str) -> str:
        setting = KNOWN.get(name)
        if setting is None:
            return value
        if name in _READ_ONLY:
            raise Invalid(f"{name} cannot be changed", "leave it out", code="invalid_setting")
        try:
            return setting.check(value)
        except Invalid as error:
            fact = f'"{value[:100]}" is not a value of {name} here'
            if setting.is_kept:
                self._noticed(f"{fact}; it stays {setting.default}", error.hint)
                return setting.default
            raise Invalid(fact, error.hint, code="invalid_setting") from None


def name_of(name: str) -> str:
    """The name of a setting as it is listed. Raises Invalid for one that no session has."""
    lower = name.lower()
    if lower == "time zone":
        return "TimeZone"
    found = _BY_LOWER.get(lower)
    if found is None and "." not in name:
        raise _unknown(name)
    return found or lower


def _unknown(name: str) -> Invalid:
    return Invalid(
        f"there is no setting called {name[:100]}",
        "SHOW ALL lists the settings; names with a dot are free",
        code="unknown_setting",
    )
