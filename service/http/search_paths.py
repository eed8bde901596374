"""The search path that a request gives beside its SQL."""

from __future__ import annotations

from planner.parsing.namespace import DEFAULT_PATH, SearchPath
from planner.parsing.search_path import search_path

GivenPath = str | list[str] | None
MEANING = (
    "The schemas of names without one, in the order of the search: `analytics, public` as in "
    'SET search_path, or `["analytics", "public"]`.'
)


def path_of(given: GivenPath) -> SearchPath:
    """The schemas of a path. Raises InvalidQuery."""
    if given is None:
        return DEFAULT_PATH
    return search_path(given) if isinstance(given, str) else tuple(given)
