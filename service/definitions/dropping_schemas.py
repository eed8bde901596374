"""DROP SCHEMA: a schema with all that is in it, in one transaction of the catalog and one epoch."""

from __future__ import annotations

from collections.abc import Sequence

from planner.relation_names import schema_of
from service.catalog.records import Definer
from service.definitions.definitions import Definitions
from service.definitions.named_things import NamedThings
from service.errors import Conflict

_SHOWN = 5


def drop_schemas(
    of: Definitions,
    others: Sequence[NamedThings],
    names: Sequence[str],
    missing_ok: bool = False,
    cascade: bool = False,
) -> None:
    """Drops schemas. Raises NotFound, and Conflict for one that is not empty, unless `cascade` empties it."""
    names = [name for name in names if not missing_ok or name in of.schemas.all]
    for name in names:
        of.schemas.require_droppable(name)
    members = [d for d in of.all.values() if schema_of(d.name) in names]
    gone = [[each for name in names for each in other.of(name)] for other in others]
    if (members or any(gone)) and not cascade:
        held = [f"{'view' if d.is_view else 'table'} {d.name}" for d in members]
        held += [f"{other.kind} {name}" for other, found in zip(others, gone, strict=True) for name in found]
        held.sort()
        shown = ", ".join(held[:_SHOWN]) + (f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else "")
        raise Conflict(
            f"schema {', '.join(names)} is not empty: it has {shown}",
            f"drop them first, or DROP SCHEMA {', '.join(names)} CASCADE",
            code="in_use",
        )

    def also(changing: Definer) -> None:
        of.schemas.remove(changing, names)
        for other, named in zip(others, gone, strict=True):
            other.remove(changing, named)

    of.drop([d.name for d in members], view=None, cascade=cascade, also=also)
    of.schemas.forget(names)
    for other, named in zip(others, gone, strict=True):
        other.forget(named)
