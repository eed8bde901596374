"""EXPLAIN, SHOW and DESCRIBE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Excerpt, Piece
from planner.statements.assertion_statements import ShowAssertions
from planner.statements.branch_statements import ShowBranch, ShowBranches
from planner.statements.create_statements import create_view
from planner.statements.outside import ShowStreams
from planner.statements.replacement_statements import ShowReplacements
from planner.statements.schema_statements import ShowSchemas, ShowSearchPath
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

STAGES = ("logical", "optimized", "dataflow")
"""The stages of EXPLAIN."""
ANALYZE = "analyze"
ANSWER = "answer"
WHY = "why"
COST = "cost"
NAMED_STAGES = (ANSWER, *STAGES, "supersteps", ANALYZE, COST, WHY)
"""The stages that EXPLAIN shows if the statement names them. `answer` is of an ad-hoc query alone: how it
would be answered; so is `why`: what its first row follows from."""

_SHOWN = (
    "write SHOW TABLES, VIEWS, ASSERTIONS, SCHEMAS, BRANCHES, REPLACEMENTS, SOURCES, SINKS, "
    "COLUMNS FROM name, CREATE TABLE, VIEW or ASSERTION name, or DESCRIBE name"
)
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE", "FROM", "PIVOT", "UNPIVOT", "(")
_EXPLAINED = f"write EXPLAIN [{' | '.join(NAMED_STAGES).upper()}] query, or VIEW name"


@dataclass(frozen=True)
class Explain(Statement):
    """EXPLAIN of `query`, or of the view called `view`; `stage` is one of NAMED_STAGES, None for all of
    STAGES."""

    stage: str | None
    query: Excerpt | None
    view: str | None


class ShowTables(Statement):
    pass


class ShowViews(Statement):
    pass


@dataclass(frozen=True)
class ShowColumns(Statement):
    """SHOW COLUMNS and DESCRIBE of a table or view."""

    name: str


@dataclass(frozen=True)
class ShowCreate(Statement):
    """SHOW CREATE of a table or view; `view` is None if it may be either. With `assertion`, the view has to
    be one."""

    name: str
    view: bool | None
    assertion: bool = False


def explain(piece: Piece) -> Explain:
    words = piece.words(3)
    stage = words[1].lower() if words[1:2] and words[1].lower() in NAMED_STAGES else None
    begin = 1 if stage is None else 2
    if begin >= len(piece.tokens):
        raise piece.failure("EXPLAIN needs a query or a view", _EXPLAINED)
    rest = piece.from_token(begin)
    first = rest.words(1)[:1]
    if first == ("VIEW",) and len(rest.tokens) > 1:
        return Explain(piece, stage, None, _last_name(piece, begin + 1))
    if first == ("CREATE",):
        return Explain(piece, stage, create_view(rest).query, None)
    if first and first[0] in _QUERIES:
        return Explain(piece, stage, qualified_text(rest.excerpt(0), piece.dialect, piece.names), None)
    if len(rest.tokens) == 1 or rest.tokens[1].text == ".":
        return Explain(piece, stage, None, _last_name(piece, begin))
    raise rest.unsupported(f"EXPLAIN {rest.tokens[0].text} is not supported", _EXPLAINED)


def show(piece: Piece) -> Statement:
    words = piece.words(4)[1:]
    if words[:2] in (("COLUMNS", "FROM"), ("COLUMNS", "IN")):
        return ShowColumns(piece, _last_name(piece, 3))
    if words[:1] == ("CREATE",) and len(piece.tokens) > 2:
        kind = piece.words(4)[2:3]
        if kind in (("TABLE",), ("VIEW",), ("ASSERTION",)):
            name, assertion = _last_name(piece, 3), kind == ("ASSERTION",)
            return ShowCreate(piece, name, assertion or kind == ("VIEW",), assertion)
    if words in _LISTED:
        return _LISTED[words](piece)
    raise piece.unsupported(f"{' '.join(piece.words(4))} is not supported", _SHOWN)


_LISTED: Mapping[tuple[str, ...], type[Statement]] = {
    ("TABLES",): ShowTables,
    ("VIEWS",): ShowViews,
    ("MATERIALIZED", "VIEWS"): ShowViews,
    ("ASSERTIONS",): ShowAssertions,
    ("SCHEMAS",): ShowSchemas,
    ("BRANCH",): ShowBranch,
    ("BRANCHES",): ShowBranches,
    ("REPLACEMENTS",): ShowReplacements,
    ("SOURCES",): ShowStreams,
    ("SINKS",): ShowStreams,
    ("SEARCH_PATH",): ShowSearchPath,
}
"""By the words after SHOW."""


def describe(piece: Piece) -> ShowColumns:
    return ShowColumns(piece, _last_name(piece, 2 if piece.words(2)[1:] in (("TABLE",), ("VIEW",)) else 1))


def _last_name(piece: Piece, place: int) -> str:
    """The full name of the relation whose name ends the statement, from token `place` on."""
    reader = WordReader(piece, place, _SHOWN)
    if reader.is_done:
        raise piece.failure("the name of a table or view is expected", _SHOWN)
    name = reader.relation()
    reader.end()
    return name
