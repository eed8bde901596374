"""Formats of dates and times in plain Python, from the systems' manuals: a referee where none runs.

Each manual is a table of its tokens: what a token writes for a moment, and None where it is refused. It
shares no code with the planner's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

Write = Callable[[datetime], str]
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def _ordinal(number: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else endings.get(number % 10, 'th')}"


def _sundays(t: datetime) -> int:
    return int(t.strftime("%U"))


def _mode_2(t: datetime) -> tuple[int, int]:
    """MySQL's week in mode 2 and the year that it is of."""
    return (t.year, _sundays(t)) if _sundays(t) else (t.year - 1, _sundays(datetime(t.year - 1, 12, 31)))


def _mode_1(t: datetime) -> int:
    year, week, _ = t.isocalendar()
    return 0 if year < t.year else 53 if year > t.year else week


def _hour(t: datetime) -> int:
    return t.hour % 12 or 12


def _number(value: Callable[[datetime], int], digits: int = 1) -> Write:
    return lambda t: f"{value(t):0{digits}d}"


def _micros(digits: int) -> Write:
    return lambda t: f"{t.microsecond:06d}000"[:digits]


YEAR = _number(lambda t: t.year, 4)
YEAR_2 = _number(lambda t: t.year % 100, 2)
MONTH = _number(lambda t: t.month, 2)
DAY = _number(lambda t: t.day, 2)
DAY_OF_YEAR = _number(lambda t: t.timetuple().tm_yday, 3)
HOUR = _number(lambda t: t.hour, 2)
HOUR_12 = _number(_hour, 2)
MINUTE = _number(lambda t: t.minute, 2)
SECOND = _number(lambda t: t.second, 2)
ISO_YEAR = _number(lambda t: t.isocalendar()[0], 4)
ISO_WEEK = _number(lambda t: t.isocalendar()[1], 2)
JULIAN = _number(lambda t: t.toordinal() + 1721425)


def _name(form: str, change: Callable[[str], str] = str) -> Write:
    return lambda t: change(t.strftime(form))


def _meridiem(am: str, pm: str) -> Write:
    return lambda t: am if t.hour < 12 else pm


def _padded(form: str, change: Callable[[str], str] = str) -> Write:
    return lambda t: change(t.strftime(form)).ljust(9)


_POSTGRES: dict[str, Write | None] = {
    "HH": HOUR_12, "HH12": HOUR_12, "HH24": HOUR, "MI": MINUTE, "SS": SECOND, "MS": _micros(3),
    "US": _micros(6),
    "SSSS": _number(lambda t: t.hour * 3600 + t.minute * 60 + t.second),
    "AM": _meridiem("AM", "PM"), "PM": _meridiem("AM", "PM"), "am": _meridiem("am", "pm"),
    "A.M.": _meridiem("A.M.", "P.M."), "p.m.": _meridiem("a.m.", "p.m."),
    "Y,YYY": lambda t: f"{t.year:,}", "YYYY": YEAR, "YYY": _number(lambda t: t.year % 1000, 3),
    "YY": YEAR_2,
    "Y": _number(lambda t: t.year % 10), "IYYY": ISO_YEAR,
    "IYY": _number(lambda t: t.isocalendar()[0] % 1000, 3),
    "IY": _number(lambda t: t.isocalendar()[0] % 100, 2), "I": _number(lambda t: t.isocalendar()[0] % 10),
    "BC": lambda t: "AD", "ad": lambda t: "ad", "A.D.": lambda t: "A.D.", "b.c.": lambda t: "a.d.",
    "MONTH": _padded("%B", str.upper), "Month": _padded("%B"), "month": _padded("%B", str.lower),
    "MON": _name("%b", str.upper), "Mon": _name("%b"), "mon": _name("%b", str.lower), "MM": MONTH,
    "DAY": _padded("%A", str.upper), "Day": _padded("%A"), "day": _padded("%A", str.lower),
    "DY": _name("%a", str.upper), "Dy": _name("%a"), "dy": _name("%a", str.lower),
    "DDD": DAY_OF_YEAR, "IDDD": _number(lambda t: (t.isocalendar()[1] - 1) * 7 + t.isoweekday(), 3),
    "DD": DAY,
    "D": _number(lambda t: t.isoweekday() % 7 + 1), "ID": _number(lambda t: t.isoweekday()),
    "W": _number(lambda t: (t.day - 1) // 7 + 1),
    "WW": _number(lambda t: (t.timetuple().tm_yday - 1) // 7 + 1, 2),
    "IW": ISO_WEEK, "CC": _number(lambda t: (t.year - 1) // 100 + 1, 2), "J": JULIAN,
    "Q": _number(lambda t: (t.month + 2) // 3), "RM": lambda t: _ROMAN[t.month - 1].ljust(4),
    "rm": lambda t: _ROMAN[t.month - 1].lower().ljust(4), "FMMonth": _name("%B"),
    "FMDD": _number(lambda t: t.day),
    "Dth": lambda t: _ordinal(t.isoweekday() % 7 + 1),
    "DDTH": lambda t: f"{t.day:02d}{_ordinal(t.day)[-2:].upper()}",
    "FF3": None, "TZH": None, "TZM": None, "SSSSS": None,
}  # fmt: skip
_TEMPLATE: dict[str, Write | None] = {
    name: write for name, write in _POSTGRES.items()
    if not name.startswith(("FM", "Dth", "DDTH", "MS", "US", "FF", "SSSS", "TZ"))
}  # fmt: skip
_ORACLE: dict[str, Write | None] = {
    **_TEMPLATE, "SSSSS": _number(lambda t: t.hour * 3600 + t.minute * 60 + t.second, 5), "J": JULIAN,
    "RRRR": YEAR, "RR": YEAR_2, "SYYYY": lambda t: f" {t.year:04d}",
    "SCC": lambda t: f" {(t.year + 99) // 100:02d}",
    **{f"FF{n}": _micros(n) for n in range(1, 10)}, "FF": _micros(6), "X": lambda t: ".", "yyyy": YEAR,
    "Hh24": HOUR,
    "YEAR": None, "DL": None, "TS": None, "TZD": None, "DDSP": None, "DDTH": None, "E": None,
    "fmMonth fmDD": lambda t: f"{t:%B} {t:%d}", "fmDay DD": lambda t: f"{t:%A} {t.day}",
}  # fmt: skip
for _name_of in ("I", "IY", "IYY", "ID", "IDDD"):
    del _ORACLE[_name_of]
_SNOWFLAKE: dict[str, Write | None] = {
    "YYYY": YEAR, "yy": YEAR_2, "MM": MONTH, "MON": _name("%b"), "mon": _name("%b"), "MMMM": _name("%B"),
    "DD": DAY,
    "DY": _name("%a"), "HH24": HOUR, "hh12": HOUR_12, "AM": _meridiem("AM", "PM"),
    "PM": _meridiem("AM", "PM"),
    "MI": MINUTE, "SS": SECOND, "FF": _micros(9), **{f"FF{n}": _micros(n) for n in range(1, 10)},
    "T": lambda t: "T",
    "FF0": None, "TZH:TZM": None, "UUUU": None, "DAY": None, "Q": None, "WW": None, "DDD": None,
    "x": None,
}  # fmt: skip
_CAST: dict[str, Write | None] = {
    name: _TEMPLATE[name] for name in (
        "YYYY", "YYY", "YY", "Y", "Y,YYY", "MM", "MON", "Mon", "mon", "MONTH", "Month", "month", "DD",
        "DDD", "D", "DAY",
        "Day", "day", "DY", "Dy", "dy", "HH", "HH12", "HH24", "MI", "SS", "AM", "PM", "A.M.",
    )
}  # fmt: skip
_CAST |= {
    "RRRR": YEAR, "RR": YEAR_2, "SSSSS": _ORACLE["SSSSS"], "FF1": _micros(1), "FF9": _micros(9),
    "Q": None, "WW": None, "TZH": None,
}  # fmt: skip
_RISINGWAVE: dict[str, Write | None] = {
    "HH24": HOUR, "hh24": HOUR, "HH12": HOUR_12, "HH": HOUR_12, "AM": _meridiem("AM", "PM"),
    "pm": _meridiem("am", "pm"),
    "MI": MINUTE, "SS": SECOND, "YYYY": YEAR, "yyyy": YEAR, "YY": YEAR_2, "IYYY": ISO_YEAR,
    "IY": _number(lambda t: t.isocalendar()[0] % 100, 2), "MM": MONTH, "Month": _name("%B"),
    "Mon": _name("%b"),
    "DD": DAY, "NS": _micros(9), "US": _micros(6), "MS": _micros(3), "MON": None, "Day": None, "Q": None,
    "D": None,
    "TZH:TZM": lambda t: "+00:00", "FMDD": None, "%": None,
}  # fmt: skip
_MYSQL: dict[str, Write | None] = {
    "%a": _name("%a"), "%b": _name("%b"), "%c": _number(lambda t: t.month), "%d": DAY,
    "%e": _number(lambda t: t.day),
    "%f": _micros(6), "%H": HOUR, "%h": HOUR_12, "%I": HOUR_12, "%i": MINUTE, "%j": DAY_OF_YEAR,
    "%k": _number(lambda t: t.hour), "%l": _number(_hour), "%M": _name("%B"), "%m": MONTH,
    "%p": _meridiem("AM", "PM"),
    "%r": lambda t: f"{_hour(t):02d}:{t:%M:%S} {_meridiem('AM', 'PM')(t)}", "%S": SECOND, "%s": SECOND,
    "%T": _name("%H:%M:%S"), "%v": ISO_WEEK, "%W": _name("%A"), "%x": ISO_YEAR, "%Y": YEAR, "%y": YEAR_2,
    "%%": lambda t: "%", "%Q": lambda t: "Q",
}  # fmt: skip
_TRINO = {**_MYSQL, **dict.fromkeys(("%D", "%U", "%u", "%V", "%w", "%X"))}
_MYSQL_ALL = {
    **_MYSQL, "%D": lambda t: _ordinal(t.day), "%U": _number(_sundays, 2), "%u": _number(_mode_1, 2),
    "%V": _number(lambda t: _mode_2(t)[1], 2), "%X": _number(lambda t: _mode_2(t)[0], 4),
    "%w": _number(lambda t: t.isoweekday() % 7),
}  # fmt: skip
_BIGQUERY: dict[str, Write | None] = {
    "%A": _name("%A"), "%a": _name("%a"), "%B": _name("%B"), "%b": _name("%b"),
    "%C": _number(lambda t: t.year // 100, 2),
    "%c": lambda t: f"{t:%a %b} {t.day:2d} {t:%H:%M:%S} {t.year:04d}", "%D": _name("%m/%d/%y"), "%d": DAY,
    "%e": lambda t: f"{t.day:2d}", "%F": _name("%Y-%m-%d"), "%G": ISO_YEAR,
    "%g": _number(lambda t: t.isocalendar()[0] % 100, 2), "%H": HOUR, "%h": _name("%b"), "%I": HOUR_12,
    "%j": DAY_OF_YEAR, "%k": lambda t: f"{t.hour:2d}", "%l": lambda t: f"{_hour(t):2d}", "%M": MINUTE,
    "%m": MONTH,
    "%n": lambda t: "\n", "%P": _meridiem("am", "pm"), "%p": _meridiem("AM", "PM"),
    "%Q": _number(lambda t: (t.month + 2) // 3), "%R": _name("%H:%M"), "%S": SECOND,
    "%s": _number(lambda t: int((t - datetime(1970, 1, 1)).total_seconds() // 1)),
    "%T": _name("%H:%M:%S"),
    "%t": lambda t: "\t", "%U": _number(_sundays, 2), "%u": _number(lambda t: t.isoweekday()),
    "%V": ISO_WEEK,
    "%W": _name("%W"), "%w": _number(lambda t: t.isoweekday() % 7), "%X": _name("%H:%M:%S"),
    "%x": _name("%m/%d/%y"),
    "%Y": YEAR, "%y": YEAR_2, "%Z": lambda t: "UTC", "%z": lambda t: "+0000", "%Ez": lambda t: "+00:00",
    "%%": lambda t: "%", "%E3S": lambda t: f"{t:%S}.{_micros(3)(t)}",
    "%E6S": lambda t: f"{t:%S}.{_micros(6)(t)}",
    "%E4Y": YEAR, "%E*S": None, "%J": None, "%i": None, "%q": None,
}  # fmt: skip


def _letters(*rows: tuple[str, int, Callable[[int], Write | None]]) -> dict[str, Write | None]:
    """Letters that stand up to so many times, and by how many what they write."""
    return {letter * count: write(count) for letter, most, write in rows for count in range(1, most + 1)}


def _digits(value: Callable[[datetime], int]) -> Callable[[int], Write | None]:
    return lambda count: _number(value, count)


def _month(count: int) -> Write:
    return _number(lambda t: t.month, count) if count < 3 else _name("%b" if count == 3 else "%B")


def _year(value: Callable[[datetime], int]) -> Callable[[int], Write]:
    return lambda count: _number(lambda t: value(t) % 100, 2) if count == 2 else _number(value, count)


_DAY_NAMES: Callable[[int], Write | None] = lambda count: _name("%a" if count < 4 else "%A")  # noqa: E731
_JODA = _letters(
    ("G", 2, lambda count: lambda t: "AD"),
    ("C", 2, lambda count: _number(lambda t: t.year // 100, count)),
    ("Y", 5, _year(lambda t: t.year)), ("y", 5, _year(lambda t: t.year)),
    ("x", 4, _year(lambda t: t.isocalendar()[0])),
    ("w", 2, _digits(lambda t: t.isocalendar()[1])), ("e", 2, _digits(lambda t: t.isoweekday())),
    ("E", 5, _DAY_NAMES),
    ("D", 3, _digits(lambda t: t.timetuple().tm_yday)), ("M", 5, _month),
    ("d", 3, _digits(lambda t: t.day)),
    ("a", 1, lambda count: _meridiem("AM", "PM")), ("K", 2, _digits(lambda t: t.hour % 12)),
    ("h", 2, _digits(_hour)),
    ("H", 2, _digits(lambda t: t.hour)), ("k", 2, _digits(lambda t: t.hour or 24)),
    ("m", 2, _digits(lambda t: t.minute)),
    ("s", 2, _digits(lambda t: t.second)), ("S", 3, _micros),
    ("Z", 2, lambda count: lambda t: "+0000" if count == 1 else "+00:00"), ("z", 1, lambda count: None),
    ("Q", 1, lambda count: None), ("B", 1, lambda count: None),
)  # fmt: skip
_HIVE = _letters(
    ("G", 2, lambda count: lambda t: "AD"), ("y", 5, _year(lambda t: t.year)), ("M", 5, _month),
    ("d", 3, _digits(lambda t: t.day)), ("D", 3, _digits(lambda t: t.timetuple().tm_yday)),
    ("E", 5, _DAY_NAMES),
    ("F", 1, _digits(lambda t: (t.day - 1) // 7 + 1)), ("u", 1, _digits(lambda t: t.isoweekday())),
    ("a", 1, lambda count: _meridiem("AM", "PM")), ("h", 2, _digits(_hour)),
    ("K", 2, _digits(lambda t: t.hour % 12)),
    ("k", 2, _digits(lambda t: t.hour or 24)), ("H", 2, _digits(lambda t: t.hour)),
    ("m", 2, _digits(lambda t: t.minute)),
    ("s", 2, _digits(lambda t: t.second)), ("S", 3, lambda count: _micros(3) if count == 3 else None),
    ("Z", 1, lambda count: lambda t: "+0000"), ("X", 1, lambda count: lambda t: "Z"),
    ("w", 1, lambda count: None),
    ("Y", 4, lambda count: None), ("z", 1, lambda count: None),
)  # fmt: skip
_DOTNET = _letters(
    ("f", 7, _micros), ("h", 2, _digits(_hour)), ("H", 2, _digits(lambda t: t.hour)),
    ("m", 2, _digits(lambda t: t.minute)), ("s", 2, _digits(lambda t: t.second)), ("M", 5, _month),
    ("t", 2, lambda count: _meridiem("AM"[:count], "PM"[:count])), ("F", 3, lambda count: None),
    ("z", 3, lambda count: None), ("K", 1, lambda count: None), ("T", 1, lambda count: lambda t: "T"),
)  # fmt: skip
_DOTNET |= {
    "d": _number(lambda t: t.day), "dd": DAY, "ddd": _name("%a"), "dddd": _name("%A"),
    "gg": lambda t: "A.D.",
    "y": _number(lambda t: t.year % 100), "yy": YEAR_2, "yyy": _number(lambda t: t.year, 3), "yyyy": YEAR,
    "yyyyy": _number(lambda t: t.year, 5),
}  # fmt: skip


@dataclass(frozen=True)
class Manual:
    """A function of a dialect: its call with places for the moment and the format, and what tokens write."""

    dialect: str
    call: str
    tokens: dict[str, Write | None]
    quote: str = ""


MANUALS = (
    Manual("redshift", "TO_CHAR({t}, {f})", _POSTGRES, '"'),
    Manual("materialize", "TO_CHAR({t}, {f})", _POSTGRES, '"'),
    Manual("risingwave", "TO_CHAR({t}, {f})", _RISINGWAVE),
    Manual("oracle", "TO_CHAR({t}, {f})", _ORACLE, '"'),
    Manual("snowflake", "TO_VARCHAR({t}, {f})", _SNOWFLAKE, '"'),
    Manual("bigquery", "CAST({t} AS STRING FORMAT {f})", _CAST, '"'),
    Manual("bigquery", "FORMAT_TIMESTAMP({f}, {t})", _BIGQUERY),
    Manual("mysql", "DATE_FORMAT({t}, {f})", _MYSQL_ALL),
    Manual("trino", "DATE_FORMAT({t}, {f})", _TRINO),
    Manual("trino", "FORMAT_DATETIME({t}, {f})", _JODA, "'"),
    Manual("hive", "DATE_FORMAT({t}, {f})", _HIVE, "'"),
    Manual("tsql", "FORMAT({t}, {f})", _DOTNET, "'"),
)
