"""VARIADIC ARRAY[a, b] among the arguments of a call, read as the arguments a, b."""

from __future__ import annotations

from typing import Any

from sqlglot import exp


class VariadicArguments:
    """Reads the arguments. A mixin that comes before a parser class among the bases."""

    def _parse_function_args(self: Any, alias: bool = False) -> list[exp.Expr]:
        found: list[exp.Expr] = super()._parse_function_args(alias)  # type: ignore[misc]
        match found:
            case [*before, exp.Variadic(this=exp.Array() as array)]:
                return [*before, *array.expressions]
        return found
