"""Views whose new query names the view that it is to replace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from planner.errors import InvalidQuery, UnknownTable
from planner.relation_names import own_name, shown_name


@contextmanager
def saying_if_it_reads_itself(name: str) -> Iterator[None]:
    """Within this context, the query of a view is planned without the view itself among its relations. If it
    names that one, InvalidQuery is raised in the place of UnknownTable."""
    try:
        yield
    except UnknownTable as error:
        if error.message not in {f'unknown table "{shown}"' for shown in (shown_name(name), own_name(name))}:
            raise
        message, hint = f"view {name} would read itself", "use WITH RECURSIVE, or read what the view reads"
        raise InvalidQuery(message, hint, error.line, error.column) from None
