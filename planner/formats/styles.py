"""The styles of T-SQL's CONVERT for dates and times, as formats.

Styles with fractions of a second are refused, unless the value is cast to DATETIME beside them: their number
of digits depends on the difference between DATETIME and DATETIME2, which are one type here. The styles of the
Hijri calendar are refused too.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner.formats.read_formats import ReadRules

_SHORT_YEARS = {
    1: "%m/%d/%y",
    2: "%y.%m.%d",
    3: "%d/%m/%y",
    4: "%d.%m.%y",
    5: "%d-%m-%y",
    6: "%d %b %y",
    7: "%b %d, %y",
    10: "%m-%d-%y",
    11: "%y/%m/%d",
    12: "%y%m%d",
}
STYLES: Mapping[int, str] = {
    **_SHORT_YEARS,
    **{style + 100: form.replace("%y", "%Y") for style, form in _SHORT_YEARS.items()},
    **dict.fromkeys((0, 100), "%b %e %Y %l:%M%p"),
    **dict.fromkeys((8, 24, 108), "%H:%M:%S"),
    **dict.fromkeys((20, 120), "%Y-%m-%d %H:%M:%S"),
    23: "%Y-%m-%d",
}
"""Styles as formats in strftime's language."""
OF_MILLISECONDS: Mapping[int, str] = {
    **dict.fromkeys((21, 25, 121), "%Y-%m-%d %H:%M:%E3S"),
    126: "%Y-%m-%dT%H:%M:%E3S",
}
"""Styles with a fraction, as a DATETIME has it; 126 omits one of 0."""
OF_DATES: Mapping[int, str] = {
    **dict.fromkeys((0, 100), "%b %e %Y"),
    **dict.fromkeys((20, 120), "%Y-%m-%d"),
}
"""The formats with which styles that have a time write a DATE."""
READS = ReadRules(pivot=50, defaults=False)
