"""Texts of queries that are kept, or planned elsewhere: the names in them get the schemas that they mean, and
named types are spelled out."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from planner.errors import PlannerError
from planner.parsing.namespace import Namespace, added_schema
from planner.parsing.parse import parse_query, spelled_names
from planner.parsing.rewritten_text import Replaced, place_of, spliced
from planner.parsing.script import Excerpt


def qualified_text(excerpt: Excerpt, dialect: str, names: Namespace) -> Excerpt:
    """The text with types and functions instead of their names, and a schema before each name that the search
    path finds outside of `public`. Raises a PlannerError for a text that is no query."""
    for replaced in (spelled_names, _schemas):
        try:
            found = replaced(excerpt.text, dialect, names)
        except PlannerError as error:
            excerpt.relocate(error)
            raise
        excerpt = _replacing(excerpt, found) if found else excerpt
    return excerpt


def _schemas(text: str, dialect: str, names: Namespace) -> list[Replaced]:
    """The schemas, each at the begin of the name before which it goes."""
    if names.is_default:
        return []
    found = ((table, added_schema(table)) for table in parse_query(text, dialect, names).find_all(exp.Table))
    places = ((t.this.meta["start"], _before(s, dialect)) for t, s in found if s is not None)
    return sorted((start, start - 1, schema) for start, schema in places)


def _replacing(excerpt: Excerpt, replaced: list[Replaced]) -> Excerpt:
    before, after = excerpt.text, spliced(excerpt.text, replaced)
    places = [(first, len(new) - (last + 1 - first)) for first, last, new in replaced]
    inserted = [
        (line, column + _length(places, before, line, column), n) for line, column, n in excerpt.inserted
    ]
    added = 0
    for start, length in places:
        inserted.append((*place_of(after, start + added), length))
        added += length
    return replace(excerpt, text=after, inserted=tuple(inserted))


def _length(places: list[tuple[int, int]], text: str, line: int, column: int) -> int:
    """By how much what stands before a place in its line has grown."""
    before = ((*place_of(text, start), length) for start, length in places)
    return sum(length for at, c, length in before if at == line and c <= column)


def _before(schema: str, dialect: str) -> str:
    return exp.to_identifier(schema, quoted=True).sql(dialect) + "."
