"""Parsers that keep a call with a format as it is written, where sqlglot's would translate the format.

sqlglot's parsers translate every format to strftime's and let unknown tokens pass. Here such a call becomes a
plain call by its name, with the user's literals.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.parser import Parser

from planner.formats.format_functions import with_formats
from planner.native.kept_calls import keeping


def keeping_formats(base: type[Parser], dialect: str) -> type[Parser]:
    """The dialect's parser, changed to keep calls with formats."""
    return keeping(base, dict.fromkeys(sorted(with_formats(dialect)), _has_format))


def _has_format(args: Sequence[exp.Expression]) -> bool:
    is_number = len(args) > 1 and isinstance(args[1], exp.Literal) and not args[1].is_string
    return len(args) in (2, 3) and not is_number
