"""The names that clients give to types and functions: where SQL uses one, its definition takes its place.

The bodies of functions go into the text before it is parsed; the parser itself reads the names of types.
Everything that is stored (a table's columns and rules, a view's query) keeps what the name meant, even if it
is changed or dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from engine.schema import Type
from planner.errors import PlannerError
from planner.parsing.function_calls import Functions, expanded
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.parse import named_types
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.rewritten_text import RewrittenText, place_of, spliced
from planner.parsing.script import Excerpt, Piece, split


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """`types` and `functions` by full name. It is replaced as a whole, so two that differ are two objects."""

    types: Mapping[str, Type] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.types or self.functions)

    def within(self, names: Namespace) -> Namespace:
        """The names, among them those of the types."""
        return replace(names, types=dict(self.types))


def spelled_out(text: str, dialect: str, vocabulary: Vocabulary, names: Namespace = DEFAULT) -> str:
    """The text with definitions instead of names. Raises a PlannerError for a wrong call of a function."""
    found = spliced(text, expanded(text, dialect, vocabulary.functions, names))
    return spliced(found, named_types(found, dialect, vocabulary.within(names)))


def kept_text(text: str, dialect: str, vocabulary: Vocabulary, names: Namespace = DEFAULT) -> Excerpt:
    """The text of a query as it is kept: with definitions instead of names, and the schemas that its names
    mean. Raises a PlannerError."""
    found = RewrittenText(text, text).replacing(expanded(text, dialect, vocabulary.functions, names))
    inserted = tuple((*place_of(found.text, at), by) for at, by in found.grown)
    return qualified_text(Excerpt(found.text, inserted=inserted), dialect, vocabulary.within(names))


def spelled_out_piece(piece: Piece, vocabulary: Vocabulary) -> Piece:
    """The same for one statement of a script, or a part of one, whose parser reads the names of types."""
    piece = replace(piece, names=vocabulary.within(piece.names))
    start, source = piece.tokens[0].start, piece.source
    try:
        replaced = expanded(source, piece.dialect, vocabulary.functions, piece.names)
    except PlannerError as error:
        Excerpt(source, *piece.place()).relocate(error)
        raise
    if not replaced:
        return piece
    found = RewrittenText(source, source).replacing(replaced)
    rewritten = found.within(piece.script, start)
    all = chain.from_iterable(new.tokens for new in split(rewritten.text, piece.dialect))
    end = start + len(found.text)
    tokens = tuple(rewritten.placed(token) for token in all if start <= token.start < end)
    return replace(piece, script=rewritten.text, tokens=tokens, rewritten=rewritten)
