"""Parsers that keep a call with a format as it is written, where sqlglot's would translate the format.

sqlglot's parsers translate every format to strftime's and let unknown tokens pass. Here such a call becomes a
plain call by its name, with the user's literals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import Dialect, exp
from sqlglot.parser import Parser

from planner.formats.format_functions import kept

Builder = Callable[..., exp.Expression]


def keeping_formats(base: type[Parser], dialect: str) -> type[Parser]:
    """The dialect's parser, changed to keep calls with formats."""
    names = kept(dialect)
    functions = {**base.FUNCTIONS, **{name: _kept(name, names[name], base.FUNCTIONS) for name in names}}
    parsers = {name: parse for name, parse in base.FUNCTION_PARSERS.items() if name not in names}
    return type("Parser", (base,), {"FUNCTIONS": functions, "FUNCTION_PARSERS": parsers})


def _kept(name: str, counts: frozenset[int], functions: Mapping[str, Builder]) -> Builder:
    """A builder that makes a plain call for these numbers of arguments, and sqlglot's node for others."""

    def build(args: list, dialect: Dialect) -> exp.Expression:
        build_known = functions.get(name)
        is_number = len(args) > 1 and isinstance(args[1], exp.Literal) and not args[1].is_string
        if (len(args) in counts and not is_number) or build_known is None:
            return exp.Anonymous(this=name, expressions=args)
        try:
            return build_known(args)
        except TypeError:
            return build_known(args, dialect=dialect)

    return build
