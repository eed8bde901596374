"""PostgreSQL's `regexp_match` and `regexp_matches`: the groups of a match, as an array of texts.

Only for patterns that are constants, and whose groups take part in every match: DuckDB gives an empty text
for a group that does not, where PostgreSQL gives NULL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from sqlglot import exp

from planner.native.templates import sql
from planner.positions import refuse

_PIECE = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\(\?|\(|\)[?*{]?|\|", re.DOTALL)
_SURE = "write a constant pattern whose groups are part of every match, or regexp_extract(s, pattern, group)"
_ALL_BY_DEFAULT = frozenset({"risingwave"})
"""Dialects in which `regexp_matches` gives every match without the flag g."""


def first_match(node: exp.Expression) -> exp.Expression:
    """`regexp_match` in DuckDB's SQL, or the node itself. `regexp_matches` is refused: it gives rows."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if name == "regexp_matches":
        hint = "write s ~ pattern for a test, regexp_match(s, pattern) for a match, or put it into FROM"
        refuse(node, "regexp_matches gives rows, so it is no value", hint)
    if name != "regexp_match" or len(node.expressions) not in (2, 3):
        return node
    text, pattern, *flags = node.expressions
    if _is_null(pattern) or any(map(_is_null, flags)):
        return sql("CAST(NULL AS VARCHAR[])", [])
    groups = _groups(pattern, node)
    found = ", ".join(f"regexp_extract({{0}}, {{1}}, {group})" for group in groups)
    flagged = _flagged(pattern, flags, "", node)
    return sql(f"CASE WHEN regexp_matches({{0}}, {{1}}) THEN [{found}] END", [text, flagged])


def all_matches(call: exp.Expr, dialect: str = "postgres") -> exp.Expression | None:
    """The list of arrays that `regexp_matches` gives; None for another function."""
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "regexp_matches":
        return None
    if len(call.expressions) not in (2, 3):
        _refuse(call, "with these arguments", "it is regexp_matches(text, pattern, flags)")
    text, pattern, *flags = call.expressions
    groups = _groups(pattern, call)
    flagged = _flagged(pattern, flags, "g", call)
    each = [f"regexp_extract_all({{0}}, {{1}}, {group})" for group in groups]
    found = f"list_transform({each[0]}, lambda x: [x])"
    if len(each) > 1:
        places = f"range(1, CAST(len({each[0]}) AS BIGINT) + 1)"
        found = f"list_transform({places}, lambda place: [{', '.join(f'{one}[place]' for one in each)}])"
    every = dialect in _ALL_BY_DEFAULT or any("g" in flag.name for flag in flags)
    return sql(found if every else f"{found}[1:1]", [text, flagged])


def _is_null(node: exp.Expr) -> bool:
    return isinstance(node, exp.Null)


def _flagged(
    pattern: exp.Expression, flags: Sequence[exp.Expression], others: str, call: exp.Expression
) -> exp.Expression:
    """The pattern with its flags in it: the last of `i` and `c` counts. `others` are flags beside these."""
    given = "".join(flag.name for flag in flags)
    is_constant = all(isinstance(flag, exp.Literal) for flag in flags)
    if not is_constant or set(given) - set("ic" + others):
        allowed = ", ".join("ic" + others)
        refuse(call, f"these flags of {call.name.lower()} are not supported", f"flags are {allowed}")
    last = given.translate({ord(letter): None for letter in others})[-1:]
    return exp.Literal.string("(?i)" + pattern.name) if last == "i" else pattern


def _groups(pattern: exp.Expression, call: exp.Expression) -> list[int]:
    """The numbers of a pattern's groups; 0, the whole match, if it has none."""
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        _refuse(call, "of a pattern that is not constant")
    pieces = _PIECE.findall(pattern.this)
    count = pieces.count("(")
    if count and ("|" in pieces or any(piece.startswith(")") and len(piece) > 1 for piece in pieces)):
        _refuse(call, "with a group that may be missing")
    return list(range(1, count + 1)) or [0]


def _refuse(call: exp.Expression, what: str, hint: str = _SURE) -> NoReturn:
    refuse(call, f"{call.name.lower()} {what} is not supported", hint)
