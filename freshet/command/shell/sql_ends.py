"""Whether what a person has typed is whole: a command of the shell, or SQL that ends with a semicolon.

Semicolons count outside of strings, quoted names, dollar quotes and comments. The service has the last word
on the SQL: this decides only whether Enter sends it or begins another line.
"""

from __future__ import annotations

import re

from freshet.command.shell.backslash import is_command

_TOKEN = re.compile(
    r"""
    (?P<whole> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
      | \$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$ )
    | (?P<line> --[^\n]* )
    | (?P<comment> /\* )
    | (?P<open> [eE]' | ['"] | \$(?:[^\W\d]\w*)?\$ )
    | (?P<word> \w[\w$]* )
    | (?P<other> \S )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


def is_whole(text: str) -> bool:
    """Whether Enter sends the text."""
    text = text.strip()
    return not text or is_command(text) or _ends(text)


def _ends(sql: str) -> bool:
    at, last = 0, ""
    while match := _TOKEN.search(sql, at):
        at = match.end()
        if match["open"]:
            return False
        if match["comment"]:
            end = _comment_end(sql, match.start())
            if end is None:
                return False
            at = end
        elif not match["line"]:
            last = match[0]
    return last == ";"


def _comment_end(sql: str, at: int) -> int | None:
    """The end of the comment at `at`, None if it has none; comments nest."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(sql, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return None
