"""T-SQL's patterns, which have sets of characters in brackets: LIKE and PATINDEX.

name LIKE '[CK]ars[eo]n'       →  regexp_full_match(name, '(?is)[CK]ars[eo]n')
PATINDEX('%[0-9]%', name)      →  where regexp_extract finds '(?is)[0-9]' in the name

They do not tell cases apart, as the usual collation.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.native.templates import sql
from planner.positions import refuse

_FLAGS = "(?is)"
_WITH_BRACKETS = "CAST('a computed pattern has brackets: ' || {1} AS BOOLEAN)"
_FOUND = "regexp_extract({0}, {1})"


def like_with_brackets(node: exp.Expression) -> exp.Expression | None:
    """A LIKE whose pattern has or may have brackets, also with ESCAPE; None for any other node."""
    like = node.this if isinstance(node, exp.Escape) else node
    if not isinstance(like, exp.Like) or isinstance(like.expression, exp.Any | exp.All):
        return None
    pattern = like.expression
    if not isinstance(pattern, exp.Literal):
        return _computed(like) if like is node else None
    escape = node.expression.name if isinstance(node, exp.Escape) else ""
    if "[" not in pattern.name:
        return None
    shape = exp.Literal.string(_FLAGS + _regular(pattern.name, escape))
    found = sql("regexp_full_match({0}, {1})", [like.this, shape])
    return exp.Not(this=found) if like.args.get("negate") else found


def _computed(like: exp.Like) -> exp.Expression:
    """A LIKE by a pattern that is no constant; brackets in it are an error."""
    pattern = like.expression
    parts = pattern.find_all(exp.Literal, exp.Column, exp.Parameter, exp.Placeholder)
    if not any(not isinstance(part, exp.Literal) or "[" in part.name for part in parts):
        return exp.ILike(this=like.this.copy(), expression=pattern.copy(), negate=like.args.get("negate"))
    inverse = "NOT " if like.args.get("negate") else ""
    test = f"CASE WHEN contains({{1}}, '[') THEN {_WITH_BRACKETS} ELSE {inverse}{{0}} ILIKE {{1}} END"
    return sql(test, [like.this, pattern])


def place_of_pattern(args: list[exp.Expression]) -> exp.Expression:
    """PATINDEX('%en_ure%', 'Please ensure the door is locked!') is 8."""
    pattern, text = args
    if isinstance(pattern, exp.Null):
        return exp.Null()
    if not isinstance(pattern, exp.Literal):
        refuse(pattern, "patindex of a pattern that is not constant is not supported")
    inner = pattern.name
    starts_anywhere, ends_anywhere = inner.startswith("%"), inner.endswith("%")
    core = inner.strip("%")
    shape = _FLAGS + ("" if starts_anywhere else "^") + _regular(core, "", ".*?")
    if ends_anywhere:
        place = f"greatest(instr({{0}}, {_FOUND}), 1)"
    else:
        shape += "$"
        place = f"length({{0}}) - length({_FOUND}) + 1"
    return sql(
        f"CASE WHEN {{0}} IS NULL THEN NULL WHEN regexp_matches({{0}}, {{1}}) THEN {place} ELSE 0 END",
        [text, exp.Literal.string(shape)],
    )


def _regular(pattern: str, escape: str, any_text: str = ".*") -> str:
    """The pattern as a regular expression."""
    found, at = "", 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if escape and sign == escape and at < len(pattern):
            found += re.escape(pattern[at])
            at += 1
        elif sign == "[" and (end := pattern.find("]", at)) >= 0:
            found += _set(pattern[at:end])
            at = end + 1
        else:
            found += {"%": any_text, "_": "."}.get(sign) or re.escape(sign)
    return found


def _set(signs: str) -> str:
    """One of these characters, or none of them behind ^; one that does not exist for an empty set."""
    negated = signs.startswith("^") and len(signs) > 1
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", signs[1:] if negated else signs)
    if not inner:
        return r"[^\s\S]"
    return f"[{'^' if negated else ''}{inner}]"
