"""The names that clients give to types and functions: where SQL uses one, its definition takes its place.

Parsing happens after that and knows no such names, and everything that is stored (a table's columns and
rules, a view's query) keeps what the name meant, even if it is changed or dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from engine.schema import Type
from planner.errors import PlannerError
from planner.parsing.function_calls import Functions, expanded
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.rewritten_text import RewrittenText, place_of
from planner.parsing.script import Excerpt, Piece, split
from planner.parsing.type_names import named_types


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """`types` and `functions` by full name. It is replaced as a whole, so two that differ are two objects."""

    types: Mapping[str, Type] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.types or self.functions)


def spelled_out(text: str, dialect: str, vocabulary: Vocabulary, names: Namespace = DEFAULT) -> str:
    """The text with definitions instead of names. Raises a PlannerError for a wrong call of a function."""
    return _rewritten(text, dialect, vocabulary, names).text


def kept_text(text: str, dialect: str, vocabulary: Vocabulary, names: Namespace = DEFAULT) -> Excerpt:
    """The text of a query as it is kept: with definitions instead of names, and the schemas that its names
    mean. Raises a PlannerError."""
    if not vocabulary:
        return qualified_text(Excerpt(text), dialect, names)
    found = _rewritten(text, dialect, vocabulary, names)
    inserted = tuple((*place_of(found.text, at), by) for at, by in found.grown)
    return qualified_text(Excerpt(found.text, inserted=inserted), dialect, names)


def spelled_out_piece(piece: Piece, vocabulary: Vocabulary) -> Piece:
    """The same for one statement of a script, or a part of one."""
    if not vocabulary:
        return piece
    start = piece.tokens[0].start
    try:
        found = _rewritten(piece.source, piece.dialect, vocabulary, piece.names)
    except PlannerError as error:
        Excerpt(piece.source, *piece.place()).relocate(error)
        raise
    if found.text == found.original:
        return piece
    rewritten = found.within(piece.script, start)
    all = chain.from_iterable(new.tokens for new in split(rewritten.text, piece.dialect))
    end = start + len(found.text)
    tokens = tuple(rewritten.placed(token) for token in all if start <= token.start < end)
    return replace(piece, script=rewritten.text, tokens=tokens, rewritten=rewritten)


def _rewritten(text: str, dialect: str, vocabulary: Vocabulary, names: Namespace) -> RewrittenText:
    """The text with the bodies of functions first, and then with the types that are named in all of it."""
    found = RewrittenText(text, text)
    if vocabulary.functions:
        found = found.replacing(expanded(text, dialect, vocabulary.functions, names))
    if vocabulary.types:
        found = found.replacing(named_types(found.text, dialect, vocabulary.types, names))
    return found
