"""New queries of views as they are kept: with definitions instead of names, and with the schemas of names."""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import PlannerError
from planner.parsing.namespace import Namespace
from planner.parsing.vocabulary import Vocabulary, kept_text
from service.catalog.replacement_records import NewQuery


def kept_queries(queries: Sequence[NewQuery], vocabulary: Vocabulary, names: Namespace) -> list[NewQuery]:
    """The queries as they are kept. Raises a PlannerError."""
    return [_kept(query, vocabulary, names) for query in queries]


def _kept(query: NewQuery, vocabulary: Vocabulary, names: Namespace) -> NewQuery:
    try:
        text = kept_text(query.sql, query.dialect, vocabulary, names)
    except PlannerError as error:
        query.relocate(error)
        raise

    def relocate(error: PlannerError) -> None:
        text.relocate(error)
        query.relocate(error)

    return NewQuery(query.view, text.text, query.dialect, relocate=relocate)
