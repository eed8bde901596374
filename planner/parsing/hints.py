"""The hint PRIORITY, which other databases and sqlglot read as a comment.

    SELECT /*+ PRIORITY(expression) */ ...

`comment_hints` replaces it, in place, with a plain comment that holds the offset of the hint's expression,
because not all dialects parse hints. `mark_hints` finds the comment in a tree and puts the parsed expression
on its SELECT. A marked node can be copied, and `sql_text` writes the hint back.
"""

from __future__ import annotations

import re

from sqlglot import Dialect, exp

from planner.errors import InvalidSyntax
from planner.limits import check_time
from planner.parsing.dialect_parsers import trees
from planner.positions import remember

_META = "priority"
_HINT = re.compile(r"[ \t]*/\*(\+\s*PRIORITY\b(.*?))\*/", re.IGNORECASE | re.DOTALL)
_WORD = re.compile("PRIORITY", re.IGNORECASE)
_STRAY = re.compile(r"\+\s*PRIORITY\b", re.IGNORECASE)
_PLACE = re.compile(r"\x1f(\d+)\s*")
_USAGE = "write SELECT /*+ PRIORITY(expression) */ ..., with the hint on the line of its SELECT"


def comment_hints(sql: str, dialect: str) -> str:
    """`sql` with each hint after a SELECT replaced by a comment of the same length that holds the offset of
    its expression. Raises InvalidSyntax if the hint stands elsewhere."""
    if not _WORD.search(sql):
        return sql
    pieces, end = [], 0
    for token in Dialect.get_or_raise(dialect).tokenize(sql):
        found = _HINT.match(sql, token.end + 1) if token.text.upper() == "SELECT" else None
        if found is not None:
            pieces += [sql[end : found.start(1)], _comment(found[1], found.start(2))]
            end = found.end(1)
        elif any(_STRAY.match(comment) for comment in token.comments):
            column = token.col - (token.end - token.start)
            raise InvalidSyntax("the hint PRIORITY does not follow a SELECT", _USAGE, token.line, column)
    return "".join((*pieces, sql[end:]))


def mark_hints(tree: exp.Expression, sql: str, dialect: str) -> None:
    """Put on every SELECT of `tree` the expression of its hint in `sql`, and remove the comment."""
    for select in tree.find_all(exp.Select):
        comments = select.comments or []
        places = [place for comment in comments if (place := _PLACE.fullmatch(comment))]
        for place in places:
            comments.remove(place[0])
            select.meta[_META] = _parsed(sql, int(place[1]), dialect)


def priority_of(select: exp.Expr) -> exp.Expression | None:
    """The expression of the SELECT's hint, if it has one."""
    return select.meta.get(_META)


def hint_text(priority: str) -> str:
    """The hint whose expression has the text `priority`."""
    return f" /*+ PRIORITY({priority}) */"


def _comment(hint: str, place: int) -> str:
    text = f"\x1f{place}"
    return text + "".join("\n" if c == "\n" else " " for c in hint[len(text) :])


def _parsed(sql: str, place: int, dialect: str) -> exp.Expression:
    """The expression in the parentheses at `place`, its nodes marked with their places in `sql`."""
    check_time()
    before = "".join("\n" if c == "\n" else " " for c in sql[:place])
    text = before + sql[place : sql.index("*/", place)]
    (tree,) = trees(text, dialect) or (None,)
    if not isinstance(tree, exp.Paren):
        line, column = before.count("\n") + 1, place - before.rfind("\n")
        raise InvalidSyntax("PRIORITY takes one expression", _USAGE, line, column)
    remember(tree, text, dialect)
    return tree.this
