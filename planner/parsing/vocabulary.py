"""The names that clients give to types and functions: where SQL uses one, its definition takes its place.

The parser goes on with the definition.
Everything that is stored (a table's columns and rules, a view's query) keeps what the name meant, even if it
is changed or dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.schema import Type
from planner.parsing.function_calls import Functions, SqlFunctions
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.parse import spelled_names
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.rewritten_text import spliced
from planner.parsing.script import Excerpt, Piece


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """`types` and `functions` by full name. It is replaced as a whole, so two that differ are two objects."""

    types: Mapping[str, Type] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.types or self.functions)

    def within(self, names: Namespace) -> Namespace:
        """The names, among them those of the types and of the functions that may be called."""
        plain = replace(names, types=dict(self.types), functions_called=None)
        return replace(plain, functions_called=SqlFunctions(dict(self.functions))) if self.functions else plain


def spelled_out(text: str, dialect: str, vocabulary: Vocabulary, names: Namespace = DEFAULT) -> str:
    """The text with definitions instead of names. Raises a PlannerError for a wrong call of a function."""
    return spliced(text, spelled_names(text, dialect, vocabulary.within(names)))


def kept_text(text: str, dialect: str, vocabulary: Vocabulary, names: Namespace = DEFAULT) -> Excerpt:
    """The text of a query as it is kept: with definitions instead of names, and the schemas that its names
    mean. Raises a PlannerError."""
    return qualified_text(Excerpt(text), dialect, vocabulary.within(names))


def with_vocabulary(piece: Piece, vocabulary: Vocabulary) -> Piece:
    """The statement, or a part of one, whose parser reads definitions instead of names."""
    return replace(piece, names=vocabulary.within(piece.names))
