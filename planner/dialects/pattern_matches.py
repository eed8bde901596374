"""PostgreSQL's `regexp_match` and `regexp_matches`: the groups of a match, as an array of texts.

Only for patterns that are constants, and whose groups take part in every match: DuckDB gives an empty text
for a group that does not, where PostgreSQL gives NULL.
"""

from __future__ import annotations

import re
from typing import NoReturn

from sqlglot import exp

from planner.errors import Unsupported
from planner.native.templates import sql
from planner.positions import fail

_PIECE = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\(\?|\(|\)[?*{]?|\|", re.DOTALL)
_SURE = "write a constant pattern whose groups are part of every match, or regexp_extract(s, pattern, group)"


def first_match(node: exp.Expression) -> exp.Expression:
    """`regexp_match` in DuckDB's SQL, or the node itself. `regexp_matches` is refused: it gives rows."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if name == "regexp_matches":
        hint = "write s ~ pattern for a test, regexp_match(s, pattern) for a match, or put it into FROM"
        fail(Unsupported("regexp_matches gives rows, so it is no value", hint), node)
    if name != "regexp_match" or len(node.expressions) != 2:
        return node
    text, pattern = node.expressions
    groups = _groups(pattern, node)
    found = ", ".join(f"regexp_extract({{0}}, {{1}}, {group})" for group in groups)
    return sql(f"CASE WHEN regexp_matches({{0}}, {{1}}) THEN [{found}] END", [text, pattern])


def all_matches(call: exp.Expr) -> exp.Expression | None:
    """The list of arrays that `regexp_matches` gives in FROM; None for another function."""
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "regexp_matches":
        return None
    text, pattern, *flags = call.expressions
    if flags and not (len(flags) == 1 and isinstance(flags[0], exp.Literal) and flags[0].this == "g"):
        fail(
            Unsupported("regexp_matches takes no flags here but 'g'", "write flags as (?i) in the pattern"),
            call,
        )
    groups = _groups(pattern, call)
    if len(groups) > 1:
        _refuse(call, "with several groups")
    found = f"list_transform(regexp_extract_all({{0}}, {{1}}, {groups[0]}), lambda x: [x])"
    return sql(found if flags else f"{found}[1:1]", [text, pattern])


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
    fail(Unsupported(f"{call.name.lower()} {what} is not supported", hint), call)
