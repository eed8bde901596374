"""Gathering: the parts of a decoded body become one set of changes, within the request's budget."""

from __future__ import annotations

from collections.abc import Iterable

from service.changes.table_changes import TableChanges
from service.definitions.definition import Definition
from service.settings.budget import Budget, too_many_rows


def gather(parts: Iterable[TableChanges], definition: Definition, budget: Budget) -> TableChanges:
    """All parts as one. Makes them one after another, and raises TooLarge once there are too many rows."""
    most, count = budget.most(len(definition.schema)), 0
    kept = []
    for part in parts:
        count += len(part)
        if count > most:
            raise too_many_rows(most)
        kept.append(part)
    return TableChanges.concat(kept) if kept else definition.no_changes
