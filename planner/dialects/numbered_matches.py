"""The match of a pattern with a number: the text with another in its place.

    regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 3, 'i')  →  A PostgrXSQL function

The place of a match is known from the lengths of the texts between matches, and of the matches before it.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import sql

_BEFORE = (
    "coalesce(list_sum(list_transform(list_slice(parts, 1, {N}), lambda x: length(x))), 0)"
    " + coalesce(list_sum(list_transform(list_slice(matches, 1, {N} - 1), lambda x: length(x))), 0)"
)
_EMPTY = "CAST(CAST('a match is empty, number ' || list_position(matches, '') AS INTEGER) AS VARCHAR)"
_REPLACED = (
    "list_transform([regexp_extract_all({0}, {1})], lambda matches: list_transform("
    "[regexp_split_to_array({0}, {1})], lambda parts: CASE WHEN len(matches) < {N} THEN {0}"
    f" WHEN list_contains(matches, '') THEN {_EMPTY}"
    f" ELSE left({{0}}, CAST({_BEFORE} AS BIGINT)) || {{NEW}}"
    f" || substring({{0}}, CAST({_BEFORE} + length(matches[{{N}}]) + 1 AS BIGINT)) END)[1])[1]"
)


def replaced_match(
    text: exp.Expression, pattern: exp.Expression, new: exp.Expression, number: int
) -> exp.Expression:
    """The text with `new` in the place of the match of this number, from 1; the text itself if it has fewer
    matches."""
    is_plain = isinstance(new, exp.Literal) and "\\" not in new.name
    written = "{2}" if is_plain else f"regexp_replace(matches[{number}], {{1}}, {{2}})"
    template = _REPLACED.replace("{N}", str(number)).replace("{NEW}", written)
    return sql(template, [text, pattern, new])


def in_any_case(pattern: exp.Expression) -> exp.Expression:
    """The pattern, which finds letters of both cases."""
    if isinstance(pattern, exp.Literal):
        return exp.Literal.string(f"(?i){pattern.name}")
    return sql("'(?i)' || {0}", [pattern])
