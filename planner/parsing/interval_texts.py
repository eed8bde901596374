"""Texts of intervals that sqlglot or DuckDB misread: `.5 second`, the SQL standard's `1-2 3 4:05:06`, and
`P1DT2H` of ISO 8601."""

from __future__ import annotations

import re

from engine.scalar.written import readable
from engine.schema import INTERVAL

_BARE_POINT = re.compile(r"(?<![\d.])\.(?=\d)")
_STANDARD = re.compile(
    r"(?P<sign>-?)(?P<years>\d+)-(?P<months>\d+)(?:\s+(?P<days>-?\d+))?(?:\s+(?P<time>-?\d+:\d+(?::\d+(?:\.\d+)?)?))?"
)


def is_of_months(text: str) -> bool:
    """Whether the text has years and months alone, as the SQL standard writes them: `1-2`."""
    standard = _STANDARD.fullmatch(text.strip())
    return standard is not None and standard["days"] is None and standard["time"] is None


def read_interval(text: str, *, in_standard: bool) -> str:
    """The same interval in words that both read: `0.5 second` and, if it may be written as in the standard,
    `1 year 2 months 3 days 4:05:06`."""
    standard = _STANDARD.fullmatch(text.strip()) if in_standard else None
    if standard is None:
        return _BARE_POINT.sub("0.", readable(text, INTERVAL) if in_standard else text)
    sign = standard["sign"]
    words = [f"{sign}{standard['years']} years {sign}{standard['months']} months"]
    words += [f"{standard['days']} days"] * (standard["days"] is not None)
    words += [standard["time"]] * (standard["time"] is not None)
    return " ".join(words)
