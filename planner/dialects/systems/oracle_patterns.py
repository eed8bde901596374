r"""Oracle's functions of regular expressions: POSIX patterns, as DuckDB has them, with Oracle's arguments.

REGEXP_SUBSTR('a,b,c', '[^,]+', 1, 2)     →   the second of regexp_extract_all(...)
REGEXP_LIKE(name, '^ste(v|ph)en$', 'i')   →   regexp_matches(name, '(?i)^ste(v|ph)en$')

References to groups within a pattern are refused: DuckDB's patterns have none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from planner.native.templates import Args, Made, sql
from planner.positions import refuse

_FLAGS = {"i": "i", "n": "s", "m": "m", "c": ""}
_REFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]")
_MATCHES = "regexp_extract_all({TEXT}, {1}, {GROUP})"


def _pattern(pattern: exp.Expression, flags: exp.Expression | None) -> exp.Expression:
    """The pattern with its flags."""
    if isinstance(pattern, exp.Literal) and _REFERENCE.search(pattern.name):
        refuse(pattern, "a reference to a group in a pattern is not supported")
    if flags is None:
        return pattern
    said = flags.name if isinstance(flags, exp.Literal) else "?"
    if any(flag not in _FLAGS for flag in said):
        refuse(flags, "these flags of a pattern are not supported", "flags are i, c, n and m")
    letters = "".join(_FLAGS[flag] for flag in said)
    if not letters:
        return pattern
    if isinstance(pattern, exp.Literal):
        return exp.Literal.string(f"(?{letters}){pattern.name}")
    return sql(f"'(?{letters})' || {{0}}", [pattern])


def _number(args: Args, place: int, default: int, what: str) -> int:
    """A constant argument."""
    if place >= len(args):
        return default
    value = args[place]
    if not isinstance(value, exp.Literal) or not value.is_int:
        refuse(value, f"a computed {what} of a pattern is not supported")
    return int(value.name)


def _at(args: Args, place: int) -> exp.Expression | None:
    return args[place] if place < len(args) else None


def _all_matches(position: int, group: int = 0) -> str:
    text = "{0}" if position == 1 else f"substring({{0}}, {position})"
    return _MATCHES.replace("{TEXT}", text).replace("{GROUP}", str(group))


def _like(args: Args) -> exp.Expression:
    return sql("regexp_matches({0}, {1})", [args[0], _pattern(args[1], _at(args, 2))])


def _count(args: Args) -> exp.Expression:
    """REGEXP_COUNT('123123123123', '123', 3, 'i') is 3."""
    matches = _all_matches(_number(args, 2, 1, "position"))
    return sql(f"CAST(len({matches}) AS BIGINT)", [args[0], _pattern(args[1], _at(args, 3))])


def _substring(args: Args) -> exp.Expression:
    """REGEXP_SUBSTR('1234567890', '(123)(4(56)(78))', 1, 1, 'i', 4) is 78."""
    matches = _all_matches(_number(args, 2, 1, "position"), _number(args, 5, 0, "group"))
    occurrence = _at(args, 3) or exp.Literal.number(1)
    found = f"nullif(list_extract({matches}, {{2}}), '')"
    return sql(found, [args[0], _pattern(args[1], _at(args, 4)), occurrence])


def _place(args: Args) -> exp.Expression:
    """REGEXP_INSTR('500 Oracle Parkway, Redwood Shores, CA', '[^ ]+', 1, 6) is 37."""
    position, occurrence = _number(args, 2, 1, "position"), _number(args, 3, 1, "occurrence")
    option = _number(args, 4, 0, "option")
    if _number(args, 6, 0, "group"):
        refuse(args[6], "regexp_instr of a group is not supported")
    text = "{0}" if position == 1 else f"substring({{0}}, {position})"
    matches, parts = _all_matches(position), f"regexp_split_to_array({text}, {{1}})"
    length = "list_sum(list_transform({LIST}, lambda x: length(x)))"
    before = f"{length.replace('{LIST}', f'list_slice({parts}, 1, {occurrence})')} + {position}"
    skipped = occurrence - 1 + min(option, 1)
    if skipped:
        before += f" + {length.replace('{LIST}', f'list_slice({matches}, 1, {skipped})')}"
    place = f"CASE WHEN {{0}} IS NULL THEN NULL WHEN len({matches}) < {occurrence} THEN 0 ELSE {before} END"
    return sql(f"CAST({place} AS BIGINT)", [args[0], _pattern(args[1], _at(args, 5))])


def _replaced(args: Args) -> exp.Expression:
    """REGEXP_REPLACE('abcabc', 'b', 'x', 1, 1) is axcabc: only the first match is replaced."""
    position, occurrence = _number(args, 3, 1, "position"), _number(args, 4, 0, "occurrence")
    if occurrence > 1:
        refuse(args[4], "regexp_replace of another match than the first is not supported")
    flag = ", 'g'" if occurrence == 0 else ""
    new = "coalesce({2}, '')" if len(args) > 2 else "''"
    rest = "{0}" if position == 1 else f"substring({{0}}, {position})"
    found = f"regexp_replace({rest}, {{1}}, {new}{flag})"
    found = found if position == 1 else f"left({{0}}, {position - 1}) || {found}"
    return sql(f"nullif({found}, '')", [args[0], _pattern(args[1], _at(args, 5)), *args[2:3]])


def _forms(name: str, least: int, places: str, meaning: Made) -> dict:
    """The call with each number of its arguments."""
    names = places.split()
    return {f"{name}({', '.join(names[:count])})": meaning for count in range(least, len(names) + 1)}


ORACLE_PATTERNS: Mapping[str, Made] = {
    **_forms("REGEXP_COUNT", 2, "text pattern position flags", _count),
    **_forms("REGEXP_INSTR", 2, "text pattern position occurrence option flags group", _place),
    **_forms("REGEXP_LIKE", 2, "text pattern flags", _like),
    **_forms("REGEXP_REPLACE", 2, "text pattern new position occurrence flags", _replaced),
    **_forms("REGEXP_SUBSTR", 2, "text pattern position occurrence flags group", _substring),
}
