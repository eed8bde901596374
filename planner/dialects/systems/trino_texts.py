"""Trino's texts that stand for something else, as numbers, sizes, durations and maps; and its combinations.

Examples are the manual's, https://trino.io/docs/current/functions/.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import Args, Meanings, sql
from planner.positions import refuse

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_FROM_BASE = (
    "CASE WHEN regexp_full_match({0}, '-?[0-9a-zA-Z]+') THEN"
    " list_reduce(list_prepend(CAST(0 AS BIGINT), list_transform(string_split(lower(ltrim({0}, '-')), ''),"
    f" lambda sign: CASE WHEN strpos('{_DIGITS}', sign) BETWEEN 1 AND {{1}}"
    f" THEN strpos('{_DIGITS}', sign) - 1 ELSE CAST('no digit: ' || sign AS BIGINT) END)),"
    " lambda total, digit: total * {1} + digit) * CASE WHEN starts_with({0}, '-') THEN -1 ELSE 1 END"
    " ELSE CAST('no number: ' || {0} AS BIGINT) END"
)
_DIGIT = "CAST(substring(reverse({0}), CAST(at + 1 AS BIGINT), 1) AS BIGINT)"
_LUHN = (
    "CASE WHEN regexp_full_match({0}, '[0-9]+') THEN list_sum(list_transform(range(length({0})), lambda at:"
    f" CASE WHEN at % 2 = 0 THEN {_DIGIT} ELSE 2 * {_DIGIT} - 9 * CAST({_DIGIT} > 4 AS BIGINT) END)) % 10 = 0"
    " ELSE CAST('not of digits alone: ' || {0} AS BOOLEAN) END"
)
_NUMERAL = "[0-9]+(?:[.][0-9]+)?"
_AMOUNT = f"regexp_extract({{0}}, '^ *({_NUMERAL})', 1)"
_UNIT = f"regexp_extract({{0}}, '^ *{_NUMERAL} *([a-zA-Z]+) *$', 1)"
_MICROSECONDS = " ".join(
    f"WHEN '{unit}' THEN {size}"
    for unit, size in {
        **{"ns": "0.001e0", "us": "1e0", "ms": "1e3", "s": "1e6", "m": "6e7", "h": "3.6e9", "d": "8.64e10"},
    }.items()
)
_DURATION = (
    f"to_microseconds(CAST(round(CAST({_AMOUNT} AS DOUBLE) * CASE {_UNIT} {_MICROSECONDS}"
    " ELSE CAST('no duration: ' || {0} AS DOUBLE) END) AS BIGINT))"
)
_SIZES = " ".join(
    f"WHEN '{unit}' THEN CAST({1024**power} AS DECIMAL(19, 0))"
    for power, unit in enumerate(("B", "kB", "MB", "GB", "TB", "PB", "EB"))
)
_SIZE = (
    f"CAST(trunc(CAST({_AMOUNT} AS DECIMAL(18, 6)) * CASE {_UNIT} {_SIZES}"
    " ELSE CAST('no size: ' || {0} AS DECIMAL(19, 0)) END) AS DECIMAL(38, 0))"
)
_PARTS = ", ".join(
    f"CASE WHEN {count} > 0 THEN {count} || ' {unit}' || CASE WHEN {count} > 1 THEN 's' ELSE '' END END"
    for unit, count in {
        "week": "(seconds // 604800)",
        "day": "(seconds // 86400 % 7)",
        "hour": "(seconds // 3600 % 24)",
        "minute": "(seconds // 60 % 60)",
        "second": "(seconds % 60)",
    }.items()
)
_IN_WORDS = (
    "list_transform([CASE WHEN {0} >= 0 THEN CAST(round({0}) AS BIGINT)"
    " ELSE CAST('less than no time: ' || {0} AS BIGINT) END], lambda seconds:"
    f" CASE WHEN seconds = 0 THEN '0 seconds' ELSE nullif(concat_ws(', ', {_PARTS}), '') END)[1]"
)
_PAIRS = "string_split({0}, {1})"
_PAIR = (
    "CASE WHEN len(string_split(pair, {2})) = 2 THEN list_extract(string_split(pair, {2}), SIDE)"
    " ELSE CAST(CAST('a key and a value: ' || pair AS BIGINT) AS VARCHAR) END"
)
_SIDES = ", ".join(f"list_transform({_PAIRS}, lambda pair: {_PAIR.replace('SIDE', side)})" for side in "12")
_MOST_ELEMENTS = {0: 100_000, 1: 100_000, 2: 447, 3: 84, 4: 40, 5: 27}
"""Elements of an array that has at most 100 000 combinations of so many."""


def _combined(args: Args) -> exp.Expression:
    """COMBINATIONS(ARRAY[1, 2, 3], 2) is [[1, 2], [1, 3], [2, 3]]: all below the last one come first."""
    count = int(args[1].name) if isinstance(args[1], exp.Literal) and args[1].name.isdigit() else -1
    most = _MOST_ELEMENTS.get(count)
    if most is None:
        refuse(args[1], "combinations takes a number of elements from 0 to 5", "write the number")
    found, upper = "[list_slice({0}, 1, 0)]", "len({0})"
    for size in range(1, count + 1):
        found = found.replace("len({0})", f"at{size} - 1")
        found = (
            f"flatten(list_transform(range(1, {upper} + 1), lambda at{size}:"
            f" list_transform({found}, lambda chosen{size}:"
            f" list_append(chosen{size}, list_extract({{0}}, CAST(at{size} AS BIGINT))))))"
        )
    few = f"list_slice({{0}}, 1, CASE WHEN len({{0}}) <= {most} THEN {most}"
    few += " ELSE CAST('too many elements: ' || len({0}) AS BIGINT) END)"
    return sql(found, [sql(few, [args[0]])])


TEXTS: Meanings = {
    "COMBINATIONS(array, count)": _combined,
    # FROM_BASE('1011', 2) is 11
    "FROM_BASE(text, base)": _FROM_BASE,
    # HUMAN_READABLE_SECONDS(3762) is 1 hour, 2 minutes, 42 seconds
    "HUMAN_READABLE_SECONDS(seconds)": _IN_WORDS,
    "LUHN_CHECK(digits)": _LUHN,
    "PARSE_DATA_SIZE(text)": _SIZE,
    "PARSE_DURATION(text)": _DURATION,
    # SPLIT_TO_MAP('a:1;b:2', ';', ':') is {a=1, b=2}
    "SPLIT_TO_MAP(text, entries, pairs)": f"map({_SIDES})",
}
