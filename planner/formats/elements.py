"""Elements: the meanings of format tokens, shared by all dialects.

An element is a piece of a moment's text: a number with a minimum of digits, or a word. `value` is a DuckDB
expression over the moment `{t}`, a TIMESTAMP that is not infinite. `directive` is the letter of strftime that
writes the same, if there is one; for a number, with `usual` digits. strftime's directive for the year is
valid only for the years 1 to 9999, so languages beyond them have a year of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

_BARE = frozenset("mdHIMSj")
"""The directives that strftime can also write without leading zeros."""


@dataclass(frozen=True)
class Element:
    """`digits` is 0 for words, 1 for numbers without leading zeros; `blanks` is the width to which words are
    padded.

    A `grouped` number has a comma before its last three digits. `reads` is the field that the element sets
    when a text is read; an element without it can only write.
    """

    value: str
    digits: int = 0
    directive: str = ""
    usual: int = 0
    blanks: int = 0
    case: str = ""
    ordinal: str = ""
    grouped: bool = False
    reads: str = ""

    @cached_property
    def as_directive(self) -> str:
        """The element in strftime's language; empty if strftime cannot write it."""
        if self.case or self.blanks or self.ordinal or not self.directive:
            return ""
        if self.digits == self.usual:
            return f"%{self.directive}"
        return f"%-{self.directive}" if self.digits == 1 and self.directive in _BARE else ""

    @cached_property
    def as_text(self) -> str:
        """The element as a DuckDB expression of type VARCHAR over `{t}`."""
        if self.digits:
            return self._number()
        text = f"{self.case}({self.value})" if self.case else self.value
        return f"rpad({text}, {self.blanks}, ' ')" if self.blanks else text

    def _number(self) -> str:
        if self.grouped:
            text = f"format('{{:d}},{{:03d}}', {self.value} // 1000, {self.value} % 1000)"
        elif self.digits == 1:
            text = f"CAST({self.value} AS VARCHAR)"
        else:
            text = f"format('{{:0{self.digits}d}}', {self.value})"
        if not self.ordinal:
            return text
        number = f"abs({self.value})"
        suffix = (
            f"CASE WHEN {number} // 10 % 10 = 1 THEN 'th' WHEN {number} % 10 = 1 THEN 'st' "
            f"WHEN {number} % 10 = 2 THEN 'nd' WHEN {number} % 10 = 3 THEN 'rd' ELSE 'th' END"
        )
        return f"{text} || {self.ordinal}({suffix})"


def unpadded(element: Element) -> Element:
    """The element without leading zeros and padding."""
    return replace(element, digits=min(element.digits, 1), blanks=0)


def zero_padded(element: Element, digits: int) -> Element:
    """The number with at least `digits` digits."""
    return replace(element, digits=digits)


def _number(value: str, digits: int, directive: str = "", reads: str = "") -> Element:
    return Element(value, digits, directive, digits, reads=reads)


def _word(value: str, directive: str = "", reads: str = "") -> Element:
    return Element(value, directive=directive, reads=reads)


_YEAR, _ISO_YEAR = "year({t})", "isoyear({t})"
_MICROS = "microsecond({t}) % 1000000"
_SUNDAYS = "(dayofyear({t}) + 6 - dayofweek({t})) // 7"
_MONDAYS = "(dayofyear({t}) + 7 - isodow({t})) // 7"
_LAST_YEAR = "make_date(year({t}) - 1, 12, 31)"
_ROMAN = "'I   II  III IV  V   VI  VII VIIIIX  X   XI  XII '"

ELEMENTS: Mapping[str, Element] = {
    "year": _number(_YEAR, 4, "Y", "year"),
    "year of 3": _number("year({t}) % 1000", 3),
    "year of 2": _number("year({t}) % 100", 2, reads="year2"),
    "year of 1": _number("year({t}) % 10", 1),
    "year, comma": Element(_YEAR, 1, grouped=True),
    "iso year": _number(_ISO_YEAR, 4),
    "iso year of 3": _number("isoyear({t}) % 1000", 3),
    "iso year of 2": _number("isoyear({t}) % 100", 2),
    "iso year of 1": _number("isoyear({t}) % 10", 1),
    "century": _number("(year({t}) + 99) // 100", 2),
    "hundreds": _number("year({t}) // 100", 2),
    "AD": _word("'AD'"),
    "A.D.": _word("'A.D.'"),
    "quarter": _number("quarter({t})", 1),
    "month": _number("month({t})", 2, "m", "month"),
    "Month": _word("strftime({t}, '%B')", "B", "month name"),
    "Mon": _word("strftime({t}, '%b')", "b", "month abbreviation"),
    "roman month": _word(f"rtrim(substring({_ROMAN}, month({{t}}) * 4 - 3, 4))"),
    "day": _number("day({t})", 2, "d", "day"),
    "day, blank": _word("lpad(CAST(day({t}) AS VARCHAR), 2, ' ')"),
    "day of year": _number("dayofyear({t})", 3, "j"),
    "iso day of year": _number("(week({t}) - 1) * 7 + isodow({t})", 3),
    "Day": _word("strftime({t}, '%A')", "A", "day name"),
    "Dy": _word("strftime({t}, '%a')", "a", "day abbreviation"),
    "day of week from 0": _number("dayofweek({t})", 1),
    "day of week": _number("dayofweek({t}) + 1", 1),
    "iso day of week": _number("isodow({t})", 1),
    "julian day": _number("CAST(julian(CAST({t} AS DATE)) AS BIGINT)", 1),
    "week of month": _number("(day({t}) + 6) // 7", 1),
    "day of week in month": _number("(day({t}) - 1) % 7 + 1", 1),
    "week of year": _number("(dayofyear({t}) + 6) // 7", 2),
    "iso week": _number("week({t})", 2),
    "week of Sundays": _number(_SUNDAYS, 2),
    "week of Mondays": _number(_MONDAYS, 2),
    # MySQL's modes: 1 is ISO's week within this year; 2 counts weeks from Sunday, and continues last year's.
    "week in mode 1": _number(
        "CASE WHEN isoyear({t}) < year({t}) THEN 0 WHEN isoyear({t}) > year({t}) THEN 53 ELSE week({t}) END",
        2,
    ),
    "week in mode 2": _number(
        f"CASE WHEN {_SUNDAYS} > 0 THEN {_SUNDAYS} ELSE {_SUNDAYS.replace('{t}', _LAST_YEAR)} END", 2
    ),
    "year in mode 2": _number(f"year({{t}}) - CASE WHEN {_SUNDAYS} > 0 THEN 0 ELSE 1 END", 4),
    "hour": _number("hour({t})", 2, "H", "hour"),
    "hour, blank": _word("lpad(CAST(hour({t}) AS VARCHAR), 2, ' ')"),
    "hour of 12": _number("(hour({t}) + 11) % 12 + 1", 2, "I", "hour12"),
    "hour of 12, blank": _word("lpad(CAST((hour({t}) + 11) % 12 + 1 AS VARCHAR), 2, ' ')"),
    "hour from 1": _number("(hour({t}) + 23) % 24 + 1", 2),
    "hour of 12 from 0": _number("hour({t}) % 12", 2),
    "minute": _number("minute({t})", 2, "M", "minute"),
    "second": _number("second({t})", 2, "S", "second"),
    "second of day": _number("hour({t}) * 3600 + minute({t}) * 60 + second({t})", 1),
    "micros": _number(_MICROS, 6, "f", "fraction6"),
    "millis": _number(f"{_MICROS} // 1000", 3, "g", "fraction3"),
    "epoch": _number("epoch_ms({t}) // 1000 - CAST(epoch_ms({t}) % 1000 < 0 AS INTEGER)", 1),
    "AM": _word("strftime({t}, '%p')", "p", "meridiem"),
    "A.M.": _word("CASE WHEN hour({t}) < 12 THEN 'A.M.' ELSE 'P.M.' END"),
    "A": _word("CASE WHEN hour({t}) < 12 THEN 'A' ELSE 'P' END"),
}
"""Elements by name."""


def fraction(digits: int) -> Element:
    """`digits` digits of the second's fraction, truncated."""
    if digits == 6:
        return ELEMENTS["micros"]
    if digits > 6:
        return Element(f"strftime({{t}}, '%f{'0' * (digits - 6)}')")
    return Element(f"{_MICROS} // {10 ** (6 - digits)}", digits, reads=f"fraction{digits}")


def upper_case(element: Element) -> Element:
    return replace(element, case="upper")


def lower_case(element: Element) -> Element:
    return replace(element, case="lower")


def filled(element: Element, blanks: int) -> Element:
    """The word padded with blanks to a width."""
    return replace(element, blanks=blanks)


def fixed_text(words: str) -> Element:
    """An element with the same text for every moment."""
    return Element("'" + words.replace("'", "''") + "'")
