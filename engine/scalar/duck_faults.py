"""DuckDB's errors, as Python has them, and what they say.

A message of DuckDB's may end inside a character of a text that it quotes. Python cannot decode it then, and
raises UnicodeDecodeError in place of DuckDB's error.
"""

from __future__ import annotations

import re

import duckdb

FAULTS = (duckdb.Error, UnicodeDecodeError)
_SOURCE = re.compile(r" when casting from source column \w+")


def said(error: Exception) -> str:
    """The error's message, with a mark in place of half a character."""
    if isinstance(error, UnicodeDecodeError):
        return bytes(error.object).decode(errors="replace")
    return str(error)


def about_value(message: str) -> str:
    """A message about a value, without the name of a column that nobody has written."""
    return _SOURCE.sub("", message)
