"""The settings that a session has: their defaults, and which values they take here.

A setting takes any value if that does no harm, because the service need not act on it. Where only one value
is true here, another is refused.

Source of names and defaults: PostgreSQL 15's manual, "Server Configuration".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from planner.errors import InvalidQuery
from planner.parsing.search_path import search_path
from service.errors import Invalid
from service.pgcatalog.server_settings import SERVER_SETTINGS, UNITS, ServerSetting
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


def _quantity(unit: str) -> Callable[[str], str]:
    """The check of a number with a unit, which is kept in the `unit` of its setting."""
    sizes = {"": Fraction(1), unit: Fraction(1), **{name: Fraction(size) for name, size in UNITS[unit]}}
    smaller = {"ms": ("us",), "s": ("ms", "us"), "kB": ("B",)}[unit]
    sizes |= {name: Fraction(1, (1024 if unit == "kB" else 1000) ** n) for n, name in enumerate(smaller, 1)}

    def check(value: str) -> str:
        match = re.fullmatch(r"\s*([0-9]{1,10}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)\s*", value)
        if match is None or match[2] not in sizes:
            raise _invalid(f"a number with a unit is expected: {', '.join(filter(None, sizes))}")
        return str(round(Fraction(match[1]) * sizes[match[2]]))

    return check


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


def _zone(value: str) -> str:
    try:
        return session_zone(value).name
    except ValueError:
        raise _invalid("pg_timezone_names lists the names; an offset is a number of hours") from None


def _fixed(setting: ServerSetting) -> Callable[[str], str]:
    """The check of a setting that has one value here."""

    def check(value: str) -> str:
        if value.lower() != setting.default.lower():
            raise _invalid(f"it is {setting.default or 'empty'} here")
        return setting.default

    return check


KNOWN = SERVER_SETTINGS
"""Every setting that a session has. One with a dot in its name is the client's own."""
_CHECKS: dict[str, Callable[[str], str]] = {
    "client_encoding": _encoding,
    "DateStyle": _date_style,
    "default_transaction_isolation": _isolation,
    "extra_float_digits": _digits,
    "IntervalStyle": _interval_style,
    "search_path": _search_path,
    "session_authorization": _any,
    "TimeZone": _zone,
    "transaction_isolation": _isolation,
    **{name: _fixed(KNOWN[name]) for name in ("bytea_output", "standard_conforming_strings")},
}
_OF_TYPES: dict[tuple[str, str | None], Callable[[str], str]] = {
    ("bool", None): _switch,
    **{("integer", unit): _quantity(unit) for unit in UNITS},
}
BY_LOWER = {name.lower(): name for name in KNOWN}
READ_ONLY = frozenset({"server_version", "server_version_num", "server_encoding", "is_superuser"})


def checked(name: str, value: str) -> str:
    """A value of a setting in its form. Raises Invalid with a hint for one that the setting cannot have."""
    setting = KNOWN[name]
    check = _CHECKS.get(name)
    if check is None and setting.context not in ("user", "superuser"):
        check = _fixed(setting)
    found = (check or _OF_TYPES.get((setting.vartype, setting.unit), _any))(value)
    if setting.unit is not None and not int(setting.least or 0) <= int(found) <= int(setting.most or found):
        raise _invalid(f"it is from {setting.least} to {setting.most} {setting.unit}")
    return found
