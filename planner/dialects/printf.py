"""FORMAT and its relatives: patterns with percent signs, as DuckDB's printf has them.

FORMAT('%d of %s', 1, 'x')   →  printf('%d of %s', 1, 'x')
FORMAT("%'d", 1234)          →  printf('%,d', 1234)
FORMAT('%2$s %1$s', x, y)    →  printf('%s %s', y, x)
FORMAT('%t', x)              →  printf('%s', x as text)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from planner.allowed.sizes import HINT, MOST
from planner.errors import ConstantTooLarge
from planner.native.templates import sql
from planner.positions import fail, refuse

_PART = re.compile(r"%(%|(?:\d+\$)?[-+ 0#',]*\d*(?:\.\d+)?[a-zA-Z])?")
_KNOWN = re.compile(r"(?:(\d+)\$)?([-+ 0#',]*)(\d*(?:\.\d+)?)([diuosxXeEfFgGt])")


def printed(args: Sequence[exp.Expression]) -> exp.Expression:
    """The text of a pattern and its values. Raises Unsupported for a pattern that is computed, or has parts
    without a translation."""
    pattern, *values = args
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        refuse(pattern, "a pattern that is not constant is not supported", "concatenate the values")
    check_widths(pattern)
    kinds: list[tuple[str, int]] = []  # with the numbers of the values
    ordinary = 0

    def translated(part: re.Match[str]) -> str:
        if part[1] == "%":
            return "%%"
        known = _KNOWN.fullmatch(part[1] or "")
        if known is None:
            refuse(pattern, f"{part[0]} in a pattern is not supported", "concatenate the values")
        nonlocal ordinary
        number, flags, size, letter = known.groups()
        ordinary += number is None
        kinds.append((letter, ordinary if number is None else int(number)))
        letter = {"i": "d", "u": "d", "t": "s", "F": "f"}.get(letter, letter)
        return f"%{flags.replace(chr(39), ',')}{size}{letter}"

    text = _PART.sub(translated, pattern.name)
    if {number for _, number in kinds} != set(range(1, len(values) + 1)):
        refuse(pattern, "a pattern whose values are more or fewer than its parts is not supported")
    places = ", ".join(["{0}", *(_place(kind, place) for kind, place in kinds)])
    return sql(f"printf({places})", [exp.Literal.string(text), *values])


def check_widths(pattern: exp.Expression) -> None:
    """Raise ConstantTooLarge for a pattern that fills a text up to more characters than one may have."""
    width = max((int(digits) for digits in re.findall(r"\d+", pattern.name)), default=0)
    if width > MOST:
        fail(ConstantTooLarge(f"a pattern fills a text up to {width} characters", HINT), pattern)


def _place(kind: str, place: int) -> str:
    """The value as printf takes it."""
    if kind == "t":
        return f"coalesce(CAST({{{place}}} AS VARCHAR), 'NULL')"
    if kind == "s":
        return f"CAST({{{place}}} AS VARCHAR)"
    return f"CAST({{{place}}} AS {'DOUBLE' if kind in 'eEfFgG' else 'BIGINT'})"
