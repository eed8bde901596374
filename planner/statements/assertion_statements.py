"""CREATE ASSERTION, which sqlglot does not parse.

An assertion is kept as a view of the rows that break it: of the query behind NOT EXISTS, or of a row that
says that the condition is false. A condition that is NULL holds, as in a CHECK.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Excerpt, Piece
from planner.statements.breach import Breach
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_FORM = "CREATE ASSERTION [IF NOT EXISTS] name CHECK (NOT EXISTS (query)) [WITH (WARN)]"
_QUERIES = ("SELECT", "WITH", "VALUES", "FROM", "TABLE", "(")


@dataclass(frozen=True)
class CreateAssertion(Statement):
    """`query` has the rows that break the assertion."""

    name: str
    query: Excerpt
    breach: Breach
    if_not_exists: bool


class ShowAssertions(Statement):
    pass


def create_assertion(piece: Piece) -> CreateAssertion:
    """CREATE ASSERTION name CHECK (condition) [INITIALLY DEFERRED ...] [WITH (WARN)].

    Every assertion is checked once an epoch, and so at the end of a block, whatever it says of deferring.
    """
    reader = WordReader(piece, 2, _FORM)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = reader.made()
    reader.expect("CHECK", "(")
    first = reader.at
    last = _closing(reader) - 1
    if last < first:
        raise reader.failure("the condition is missing")
    while reader.skip("DEFERRABLE") or reader.skip("INITIALLY", "DEFERRED"):
        pass
    breach = Breach.WARN if reader.skip("WITH", "(", "WARN", ")") else Breach.REFUSE
    reader.end()
    return CreateAssertion(piece, name, _broken_by(piece, first, last), breach, if_not_exists)


def _closing(reader: WordReader) -> int:
    """Passes the tokens up to the parenthesis that closes the one before them, and returns its index."""
    depth = 1
    while depth:
        if reader.is_done:
            raise reader.failure("a parenthesis is not closed")
        depth += {"(": 1, ")": -1}.get(reader.word, 0)
        reader.at += 1
    return reader.at - 1


def _broken_by(piece: Piece, first: int, last: int) -> Excerpt:
    """The query of the rows that break a condition, which is the tokens from `first` to `last`."""
    condition = replace(piece, tokens=piece.tokens[: last + 1])
    reader = WordReader(condition, first, _FORM)
    if reader.skip("NOT", "EXISTS", "(") and reader.word in _QUERIES:
        begin = reader.at
        if _closing(reader) == last:
            query = replace(piece, tokens=piece.tokens[:last])
            return qualified_text(query.excerpt(begin), piece.dialect, piece.names)
    text = condition.excerpt(first).around("SELECT FALSE AS holds WHERE NOT (", ")")
    return qualified_text(text, piece.dialect, piece.names)
