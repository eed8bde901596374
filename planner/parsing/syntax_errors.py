"""Syntax errors in one wording: where sqlglot stopped, what it expected, and which word was probably meant.

sqlglot takes a misspelt keyword for a name as long as it can, so the word to blame is often the one before
the place at which it stops, or the first of the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot.errors import ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidSyntax, as_fact
from planner.suggestions import did_you_mean

PARSER_FAULTS = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""Errors of sqlglot's parser, besides its own classes, for some texts that are not SQL."""
STATEMENTS = frozenset(
    {"ALTER", "BEGIN", "COMMENT", "COMMIT", "COPY", "CREATE", "DELETE", "DESCRIBE", "DROP", "EXPLAIN"}
    | {"GRANT", "INSERT", "MERGE", "REVOKE", "ROLLBACK", "SELECT", "SET", "SHOW", "TRUNCATE", "UPDATE"}
    | {"VALUES", "WITH"}
)
_KEYWORDS = frozenset(
    {"AND", "BETWEEN", "CASE", "CROSS", "DESC", "DISTINCT", "ELSE", "END", "EXCEPT", "EXISTS", "FETCH"}
    | {"FILTER", "FROM", "FULL", "GROUP", "HAVING", "INNER", "INTERSECT", "INTO", "JOIN", "LATERAL", "LEFT"}
    | {"LIKE", "LIMIT", "NATURAL", "OFFSET", "ORDER", "OUTER", "OVER", "PARTITION", "QUALIFY", "RECURSIVE"}
    | {"RETURNING", "RIGHT", "SELECT", "TABLE", "THEN", "UNION", "USING", "VALUES", "VIEW", "WHEN", "WHERE"}
    | {"WINDOW"}
)
_BEFORE_NAMES = frozenset(
    {TokenType.ALIAS, TokenType.COMMA, TokenType.DOT, TokenType.FROM, TokenType.INTO, TokenType.JOIN}
    | {TokenType.SELECT, TokenType.TABLE, TokenType.UPDATE}
)
"""What stands before a name rather than before a keyword."""
_MISSING = re.compile(r"Required keyword: '(\w+)'")
_UNCLOSED = re.compile(r"Missing (.+) from (\d+):(\d+)")
_EXPECTING = re.compile(r"Expecting (.+)")
_SILENT = "Invalid expression"
"""sqlglot's words where it knows no more than the place."""


def syntax_error(error: ParseError, tokens: Sequence[Token]) -> InvalidSyntax:
    """sqlglot's error about a text of these tokens, with its place."""
    found = error.errors[0] if error.errors else {}
    line, end, text = found.get("line"), found.get("col"), str(found.get("highlight") or "")
    at = next((i for i, token in enumerate(tokens) if (token.line, token.col) == (line, end)), None)
    expected = _expected(str(found.get("description") or error))
    if at is not None:
        for token, known in _suspects(tokens, at):
            meant = did_you_mean(token.text.upper(), known)
            if meant:
                return _at(token.text, token.line, token.col, meant)
        opened = _unclosed(tokens) if expected == "expected )" else None
        if opened is not None:
            expected = f"the ( in line {opened.line}, column {opened.col} is not closed here"
        expected = expected or _advice(tokens, at)
    return _at(text, line, end, expected)


def unreadable(error: TokenError, text: str) -> InvalidSyntax:
    """sqlglot's error about a text that it cannot divide into tokens, with its place."""
    unclosed = _UNCLOSED.fullmatch(str(error.__cause__ or error))
    if unclosed is None:
        return InvalidSyntax("the text ends inside a comment or a quoted text", "close it")
    mark, line, start = unclosed[1], int(unclosed[2]), int(unclosed[3])
    column = start - text.rfind("\n", 0, start)
    return InvalidSyntax(f"the {mark} is not closed", line=line, column=column)


def _advice(tokens: Sequence[Token], at: int) -> str:
    """What to write in place of words that other systems have; empty if nothing is known."""
    word, before = tokens[at].text, tokens[at - 1].text.upper() if at else ""
    if word == "`":
        return 'a name is quoted "so" in this dialect'
    if before == "TOP":
        return f"LIMIT {word} at the end of the query takes the first rows"
    return "expected (" if before == "IN" else ""


def _at(text: str, line: int | None, end: int | None, hint: str) -> InvalidSyntax:
    what = f'syntax error at or near "{text}"' if text else "syntax error at the end of the statement"
    column = None if end is None else max(1, end - len(text) + 1)
    return InvalidSyntax(what, hint, line=line, column=column)


def _expected(description: str) -> str:
    """sqlglot's description as a hint, without the names of its classes; empty if it says nothing."""
    description = re.split(r" but got <| for <class| missing for <", description.strip())[0].rstrip(".")
    missing = _MISSING.match(description)
    if missing:
        is_value = missing[1] in ("expression", "expressions", "this")
        return "an expression is missing" if is_value else f"{missing[1]} is missing"
    expecting = _EXPECTING.fullmatch(description)
    if expecting:
        return f"expected {expecting[1]}"
    return "" if description.startswith(_SILENT) else as_fact(description)


def _suspects(tokens: Sequence[Token], at: int) -> Iterator[tuple[Token, frozenset[str]]]:
    """The words that may be misspelt, with the keywords that they may mean, the likeliest first."""
    begin = next((i + 1 for i in range(at, -1, -1) if tokens[i].token_type is TokenType.SEMICOLON), 0)
    if _is_word(tokens[begin]):
        yield tokens[begin], STATEMENTS
    for i in (at - 1, at):
        if i > begin and _is_word(tokens[i]) and tokens[i - 1].token_type not in _BEFORE_NAMES:
            yield tokens[i], _KEYWORDS


def _is_word(token: Token) -> bool:
    """Whether the token is a word that is no keyword."""
    return token.token_type is TokenType.VAR and token.text.upper() not in STATEMENTS | _KEYWORDS


def _unclosed(tokens: Sequence[Token]) -> Token | None:
    """The innermost parenthesis that is not closed."""
    opened: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type is TokenType.R_PAREN and opened:
            opened.pop()
    return opened[-1] if opened else None
