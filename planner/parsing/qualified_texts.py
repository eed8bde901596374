"""Texts of queries that are kept, or planned elsewhere: the names in them get the schemas that they mean."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from planner.errors import PlannerError
from planner.parsing.namespace import Namespace, added_schema
from planner.parsing.parse import parse_query
from planner.parsing.rewritten_text import place_of
from planner.parsing.script import Excerpt


def qualified_text(excerpt: Excerpt, dialect: str, names: Namespace) -> Excerpt:
    """The text with a schema before each name that the search path finds outside of `public`."""
    if names.is_default:
        return excerpt
    try:
        query = parse_query(excerpt.text, dialect, names)
    except PlannerError as error:
        excerpt.relocate(error)
        raise
    found = ((table, added_schema(table)) for table in query.find_all(exp.Table))
    places = sorted((t.this.meta["start"], _before(s, dialect)) for t, s in found if s is not None)
    text = excerpt.text
    for start, schema in reversed(places):
        text = text[:start] + schema + text[start:]
    inserted = [
        (line, column + _length(places, excerpt.text, line, column), n)
        for line, column, n in excerpt.inserted
    ]
    added = 0
    for start, schema in places:
        inserted.append((*place_of(text, start + added), len(schema)))
        added += len(schema)
    return replace(excerpt, text=text, inserted=tuple(inserted))


def _length(places: list[tuple[int, str]], text: str, line: int, column: int) -> int:
    """The length of the schemas that go before a place in its line."""
    before = ((*place_of(text, start), len(schema)) for start, schema in places)
    return sum(length for at, c, length in before if at == line and c <= column)


def _before(schema: str, dialect: str) -> str:
    return exp.to_identifier(schema, quoted=True).sql(dialect) + "."
