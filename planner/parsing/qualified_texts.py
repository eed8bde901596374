"""Texts of queries that are kept, or planned elsewhere: the names in them get the schemas that they mean."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from planner.errors import PlannerError
from planner.parsing.namespace import Namespace, added_schema
from planner.parsing.parse import parse_query
from planner.parsing.script import Excerpt, place_of


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
    added, inserted = 0, []
    for start, schema in places:
        inserted.append((*place_of(text, start + added), len(schema)))
        added += len(schema)
    return replace(excerpt, text=text, inserted=tuple(inserted))


def _before(schema: str, dialect: str) -> str:
    return exp.to_identifier(schema, quoted=True).sql(dialect) + "."
