"""The place of a parsed node in the user's text.

sqlglot marks names, literals and functions with the place of their token. A node without a mark has the place
of its first keyword, which is looked up in the text (kept by `remember` at the root of the tree) near the
marked nodes around it. Without a text, it has the place of its first marked descendant or nearest marked
ancestor.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
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


class Places:
    """The places of nodes of one tree, which does not change meanwhile: the text is read once, and the tree
    walked once."""

    def __init__(self, tree: exp.Expr) -> None:
        self._root = tree.root()

    def of(self, node: exp.Expr, keyword: str = "") -> Place:
        """Line and column, both from 1, of the node, or of the `keyword` before it; (None, None) if
        unknown."""
        first = _first_mark(node)
        if keyword or "line" not in node.meta:
            token = self._keyword(node, keyword, first)
            if token is not None:
                return token.line, token.col - (token.end - token.start)
        inner = node
        while first is None and inner.parent is not None:
            first, inner = _first_mark(inner.parent, inner), inner.parent
        return (first["line"], _column(first)) if first is not None else (None, None)

    def _keyword(self, node: exp.Expr, keyword: str, first: dict | None) -> Token | None:
        """The requested keyword, the last one before the node's first mark; without a request, the keyword
        that begins the node, between the marked nodes before it and its own."""
        wanted = keyword or node.sql(_written(self._root)[1]).split(" ")[0].split("(")[0].split("[")[0]
        tokens = self._tokens.get(wanted.upper(), [])
        low = 0 if keyword and first is not None else bisect_left(tokens, self._end_before(node), key=_start)
        place = low if first is None else bisect_right(tokens, first["start"], key=_start) - 1
        return tokens[place] if low <= place < len(tokens) else None

    @cached_property
    def _tokens(self) -> dict[str, list[Token]]:
        """The tokens of the text by their first words."""
        found: dict[str, list[Token]] = {}
        for token in tokens_of(self._root):
            found.setdefault(token.text.upper().split(" ")[0], []).append(token)
        return found

    def _end_before(self, node: exp.Expr) -> int:
        """The end of the last marked node before `node` in the tree's own order."""
        ends, last = self._ends
        return ends.get(id(node), last)

    @cached_property
    def _ends(self) -> tuple[dict[int, int], int]:
        """For each node the end of the last marked one before it; and that of the last one of all."""
        ends, end = {}, 0
        for node in self._root.walk(bfs=False):
            ends[id(node)] = end
            end = max(end, node.meta.get("end", 0))
        return ends, end


def position(node: exp.Expr | None, keyword: str = "") -> Place:
    """The place of one node, or of the `keyword` before it, as `Places.of` tells it."""
    return (None, None) if node is None else Places(node).of(node, keyword)


def fail(error: PlannerError, node: exp.Expr | None, keyword: str = "") -> NoReturn:
    """Raise `error` at the place of `node`, or of the `keyword` before it."""
    raise error.at(*position(node, keyword))


def refuse(node: exp.Expr | None, what: str, hint: str = "", keyword: str = "") -> NoReturn:
    """Raise Unsupported at the place of `node`, or of the `keyword` before it."""
    fail(Unsupported(what, hint), node, keyword)


def tokens_of(tree: exp.Expr) -> list[Token]:
    """The tokens of the text from which a tree was parsed; none if it is not known."""
    text, dialect = _written(tree.root())
    try:
        return Dialect.get_or_raise(dialect).tokenize(text)
    except SqlglotError:
        return []


def _written(root: exp.Expr) -> tuple[str, str]:
    """The text of a tree, and its dialect."""
    written: tuple[str, str] = root.meta.get(_TEXT, ("", "postgres"))
    return written


def _start(token: Token) -> int:
    return token.start


def _column(mark: dict) -> int:
    return mark["col"] - (mark["end"] - mark["start"])


def _first_mark(node: exp.Expr, seen: exp.Expr | None = None) -> dict | None:
    """The first mark below the node; `seen` is below it too, and has none."""
    below = node.walk(prune=lambda each: each is seen)
    marks = [each.meta for each in below if "line" in each.meta and "start" in each.meta]
    return min(marks, key=lambda mark: mark["start"]) if marks else None
