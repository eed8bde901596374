"""The place of a parsed node in the user's text.

sqlglot marks names, literals and functions with the place of their token. A node without a mark has the place
of its first keyword, which is looked up in the text (kept by `remember` at the root of the tree) near the
marked nodes around it. Without a text, it has the place of its first marked descendant or nearest marked
ancestor.
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token

from planner.errors import PlannerError, Unsupported

_TEXT = "text_and_dialect"
Place = tuple[int | None, int | None]


def remember(tree: exp.Expression, text: str, dialect: str) -> None:
    """Keep the text from which `tree` was parsed, for places without a mark."""
    tree.meta[_TEXT] = (text, dialect)


def position(node: exp.Expr | None, keyword: str = "") -> Place:
    """Line and column, both from 1, of the node, or of the `keyword` before it; (None, None) if unknown."""
    if node is None:
        return None, None
    first = _first_mark(node)
    if keyword or "line" not in node.meta:
        found = _keyword_place(node, keyword, first)
        if found is not None:
            return found
    inner = node
    while first is None and inner.parent is not None:
        first, inner = _first_mark(inner.parent, inner), inner.parent
    return (first["line"], _column(first)) if first is not None else (None, None)


def fail(error: PlannerError, node: exp.Expr | None, keyword: str = "") -> NoReturn:
    """Raise `error` at the place of `node`, or of the `keyword` before it."""
    raise error.at(*position(node, keyword))


def refuse(node: exp.Expr | None, what: str, hint: str = "", keyword: str = "") -> NoReturn:
    """Raise Unsupported at the place of `node`, or of the `keyword` before it."""
    fail(Unsupported(what, hint), node, keyword)


def tokens_of(tree: exp.Expr) -> list[Token]:
    """The tokens of the text from which a tree was parsed; none if it is not known."""
    return _tokens(*tree.root().meta.get(_TEXT, ("", "postgres")))


def _column(mark: dict) -> int:
    return mark["col"] - (mark["end"] - mark["start"])


def _first_mark(node: exp.Expr, seen: exp.Expr | None = None) -> dict | None:
    """The first mark below the node; `seen` is below it too, and has none."""
    below = node.walk(prune=lambda each: each is seen)
    marks = [each.meta for each in below if "line" in each.meta and "start" in each.meta]
    return min(marks, key=lambda mark: mark["start"]) if marks else None


def _keyword_place(node: exp.Expr, keyword: str, first: dict | None) -> Place | None:
    """The place of the requested keyword, the last one before the node's first mark; without a request, of
    the keyword that begins the node, between the marked nodes before it and its own."""
    text, dialect = node.root().meta.get(_TEXT, ("", "postgres"))
    wanted = keyword or node.sql(dialect).split(" ")[0].split("(")[0].split("[")[0]
    start = 0 if keyword and first is not None else _end_before(node)
    tokens = [
        token
        for token in _tokens(text, dialect)
        if token.text.upper().split(" ")[0] == wanted.upper()
        and start <= token.start <= (first["start"] if first is not None else len(text))
    ]
    if not tokens:
        return None
    token = tokens[-1] if first is not None else tokens[0]
    return token.line, token.col - (token.end - token.start)


def _tokens(text: str, dialect: str) -> list[Token]:
    try:
        return Dialect.get_or_raise(dialect).tokenize(text)
    except SqlglotError:
        return []


def _end_before(node: exp.Expr) -> int:
    """The end of the last marked node before `node` in the tree's own order."""
    end = 0
    for other in node.root().walk(bfs=False):
        if other is node:
            break
        end = max(end, other.meta.get("end", 0))
    return end
