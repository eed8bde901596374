"""Texts of intervals that sqlglot or DuckDB misread: `.5 second`, `-1 days +02:03`, the SQL standard's
`1-2 3 4:05:06`, and `P1DT2H` of ISO 8601."""

from __future__ import annotations

import re

from engine.codec.spelled_intervals import interval_of_words
from engine.errors import InvalidValue
from engine.scalar.written import interval_words, readable
from engine.schema import INTERVAL

_BARE_POINT = re.compile(r"(?<![\d.])\.(?=\d)")
_OF_MONTHS = re.compile(r"\s*[+-]?\d+-\d+\s*")
_NUMBER = r"\s*-?(\d+(\.\d+)?|\.\d+)\s*"
_PLAIN = re.compile(rf"({_NUMBER}[a-zA-Z]+)+\s*|{_NUMBER}|\s*-?P.*|\s*-?\d+(:\d+)+(\.\d+)?\s*")
"""Texts that both read: numbers with units, a number, a duration or a clock alone."""


def is_of_months(text: str) -> bool:
    """Whether the text has years and months alone, as the SQL standard writes them: `1-2`."""
    return _OF_MONTHS.fullmatch(text) is not None


def read_interval(text: str, *, in_standard: bool) -> str:
    """The same interval in words that both read: `0.5 second` and, if it may be written as in the standard
    or as PostgreSQL does, `14 months 3 days 14706000000 microseconds`."""
    if not in_standard:
        return _BARE_POINT.sub("0.", text)
    if _PLAIN.fullmatch(text):
        return _BARE_POINT.sub("0.", readable(text, INTERVAL))
    try:
        found = interval_of_words(text)
    except InvalidValue:
        return text
    return text if found is None else interval_words(found)
