"""Parsers that keep calls as they are written, where sqlglot would read them as nodes of its own.

A call that is kept is a plain one (`exp.Anonymous`), with its arguments in their order. A call of its name
with other arguments is sqlglot's node, if sqlglot knows the name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature

from sqlglot import Dialect, exp
from sqlglot.parser import Parser

Builder = Callable[..., exp.Expression]
IsKept = Callable[[Sequence[exp.Expression]], bool]


def keeping(base: type[Parser], names: Mapping[str, IsKept]) -> type[Parser]:
    """The parser, changed to keep calls by `names`, in upper case, whose arguments pass the test."""
    functions = {
        **base.FUNCTIONS,
        **{name: _kept(name, test, base.FUNCTIONS.get(name)) for name, test in names.items()},
    }
    parsers = {name: parse for name, parse in base.FUNCTION_PARSERS.items() if name not in names}
    return type("Parser", (base,), {"FUNCTIONS": functions, "FUNCTION_PARSERS": parsers})


def _kept(name: str, is_kept: IsKept, build_known: Builder | None) -> Builder:
    takes_dialect = build_known is not None and "dialect" in signature(build_known).parameters

    def build(args: list, dialect: Dialect) -> exp.Expression:
        if build_known is None or is_kept(args):
            return exp.Anonymous(this=name, expressions=args)
        return build_known(args, dialect=dialect) if takes_dialect else build_known(args)

    return build
