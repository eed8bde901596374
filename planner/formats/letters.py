"""Letter languages: Java's DateTimeFormatter (as Spark restricts it) and SimpleDateFormat, Joda's, .NET's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import ascii_letters

from planner.formats.elements import ELEMENTS as E
from planner.formats.elements import Element, fixed_text, fraction, zero_padded
from planner.formats.format_scanner import Letter, Part, Scan, UnknownToken, letters


def _number(name: str, most: int) -> Letter:
    """A number with as many digits as there are letters, at most `most`."""
    return lambda count: zero_padded(E[name], count) if count <= most else None


def _one_of(*names: str | None) -> Letter:
    """The element by the number of letters, from one; the last element also for more letters, unless it is
    None."""

    def element(count: int) -> Element | None:
        name = names[min(count, len(names)) - 1]
        return E[name] if name else None

    return element


def _texts(*words: str | None) -> Letter:
    """The same text for every moment, by the number of letters."""

    def element(count: int) -> Element | None:
        word = words[count - 1] if count <= len(words) else None
        return fixed_text(word) if word else None

    return element


_ANY = 20
"""More letters in a row than any real format has."""


def _month(count: int, longest: int) -> Element | None:
    if count <= 2:
        return zero_padded(E["month"], count)
    return E["Mon" if count == 3 else "Month"] if count <= longest else None


def _year(count: int, longest: int, name: str = "year") -> Element | None:
    if count == 2:
        return E[f"{name} of 2"]
    return zero_padded(E[name], count) if count <= longest else None


_SPARK: Mapping[str, Letter] = {
    "G": _one_of("AD", "AD", "AD", None),
    "y": lambda count: _year(count, 6),
    "M": lambda count: _month(count, 4),
    "L": lambda count: _month(count, 4),
    "d": _number("day", 2),
    "D": lambda count: zero_padded(E["day of year"], count) if count in (1, 3) else None,
    "Q": lambda count: zero_padded(E["quarter"], count) if count <= 2 else None,
    "q": lambda count: zero_padded(E["quarter"], count) if count <= 2 else None,
    "E": _one_of("Dy", "Dy", "Dy", "Day", None),
    "F": _number("day of week in month", 1),
    "a": _one_of("AM", None),
    "h": _number("hour of 12", 2),
    "K": _number("hour of 12 from 0", 2),
    "k": _number("hour from 1", 2),
    "H": _number("hour", 2),
    "m": _number("minute", 2),
    "s": _number("second", 2),
    "S": lambda count: fraction(count) if count <= 9 else None,
    "X": _texts("Z", "Z", "Z", "Z", "Z"),
    "x": _texts("+00", "+0000", "+00:00", "+0000", "+00:00"),
    "Z": _texts("+0000", "+0000", "+0000", "GMT", "Z"),
}
spark = letters(_SPARK, refused="[]{}#")
_SIMPLE: Mapping[str, Letter] = {
    "G": _one_of("AD"),
    "y": lambda count: _year(count, _ANY),
    "M": lambda count: _month(count, _ANY),
    "L": lambda count: _month(count, _ANY),
    "d": _number("day", _ANY),
    "D": _number("day of year", _ANY),
    "E": _one_of("Dy", "Dy", "Dy", "Day"),
    "F": lambda count: zero_padded(E["week of month"], count),
    "u": _number("iso day of week", _ANY),
    "a": _one_of("AM"),
    "h": _number("hour of 12", _ANY),
    "K": _number("hour of 12 from 0", _ANY),
    "k": _number("hour from 1", _ANY),
    "H": _number("hour", _ANY),
    "m": _number("minute", _ANY),
    "s": _number("second", _ANY),
    "S": lambda count: E["millis"] if count == 3 else None,
    "X": _texts("Z", "Z", "Z"),
    "Z": lambda count: fixed_text("+0000"),
}
hive = letters(_SIMPLE)
joda = letters(
    {
        "G": _one_of("AD"),
        "C": _number("hundreds", _ANY),
        "Y": lambda count: _year(count, 9),
        "y": lambda count: _year(count, 9),
        "x": lambda count: _year(count, 9, "iso year"),
        "w": _number("iso week", _ANY),
        "e": _number("iso day of week", _ANY),
        "E": _one_of("Dy", "Dy", "Dy", "Day"),
        "D": _number("day of year", _ANY),
        "M": lambda count: _month(count, _ANY),
        "d": _number("day", _ANY),
        "a": _one_of("AM"),
        "K": _number("hour of 12 from 0", _ANY),
        "h": _number("hour of 12", _ANY),
        "H": _number("hour", _ANY),
        "k": _number("hour from 1", _ANY),
        "m": _number("minute", _ANY),
        "s": _number("second", _ANY),
        "S": lambda count: fraction(count) if count <= 3 else None,
        "Z": _texts("+0000", "+00:00"),
    }
)

_STANDARD = {
    "d": "M/d/yyyy",
    "D": "dddd, MMMM d, yyyy",
    "f": "dddd, MMMM d, yyyy h:mm tt",
    "F": "dddd, MMMM d, yyyy h:mm:ss tt",
    "g": "M/d/yyyy h:mm tt",
    "G": "M/d/yyyy h:mm:ss tt",
    "M": "MMMM d",
    "m": "MMMM d",
    "R": "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'",
    "r": "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'",
    "s": "yyyy'-'MM'-'dd'T'HH':'mm':'ss",
    "t": "h:mm tt",
    "T": "h:mm:ss tt",
    "u": "yyyy'-'MM'-'dd HH':'mm':'ss'Z'",
    "Y": "MMMM yyyy",
    "y": "MMMM yyyy",
}
""".NET's standard formats, of one letter, in its culture en-US."""


def _dotnet_year(count: int) -> Element | None:
    return (
        zero_padded(E["year of 2"], count)
        if count <= 2
        else zero_padded(E["year"], count)
        if count <= 9
        else None
    )


def _dotnet_day(count: int) -> Element | None:
    return zero_padded(E["day"], count) if count <= 2 else E["Dy" if count == 3 else "Day"]


def _twice(name: str) -> Letter:
    """A number with one digit, or with two for two or more letters."""
    return lambda count: zero_padded(E[name], min(count, 2))


def _itself(letter: str) -> Letter:
    return lambda count: fixed_text(letter * count)


_DOTNET: Mapping[str, Letter] = {
    **{letter: _itself(letter) for letter in ascii_letters if letter not in "FKz"},
    "d": _dotnet_day,
    "f": lambda count: fraction(count) if count <= 7 else None,
    "g": lambda count: fixed_text("A.D."),
    "h": _twice("hour of 12"),
    "H": _twice("hour"),
    "m": _twice("minute"),
    "M": lambda count: _month(count, _ANY),
    "s": _twice("second"),
    "t": lambda count: E["A" if count == 1 else "AM"],
    "y": _dotnet_year,
}


def dotnet(form: str) -> Iterator[Part]:
    """T-SQL's FORMAT of moments; a percent sign precedes a single letter that is not a standard format."""
    if len(form) == 1 and form.isalpha():
        if form not in _STANDARD:
            raise UnknownToken(form, 0)
        form = _STANDARD[form]
    yield from _DOTNET_SCAN(form[1:] if len(form) == 2 and form[0] == "%" else form)


_DOTNET_SCAN: Scan = letters(_DOTNET, quotes="'\"", refused="\\%")
