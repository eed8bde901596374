"""Where epochs come from, as far as the catalog knows: an idempotency key, a load, a source or a merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sqlalchemy as sa

from service.catalog.branch_records import branches, merges
from service.catalog.catalog import idempotency_keys
from service.pipeline.catalog_tables import sources
from service.pipeline.jobs import jobs

_LOAD = "load"


@dataclass(frozen=True)
class EpochOrigin:
    """The request that made an epoch: its idempotency key, or the id of the load, the name of the source, or
    the branch of the merge that it was."""

    idempotency_key: str | None = None
    load: str | None = None
    source: str | None = None
    merged: str | None = None


def epoch_origins(
    connection: sa.Connection, epochs: Mapping[int, int], branch: int
) -> dict[int, EpochOrigin]:
    """The origins of epochs of the branch with this id, which come with the times of their commits. Those of
    which nothing is known are left out."""
    found: dict[int, EpochOrigin] = {}

    def note(epoch: int, **what: str) -> None:
        found[epoch] = replace(found.get(epoch, EpochOrigin()), **what)

    of = idempotency_keys.c
    keys = sa.select(of.epoch, of.key).where(of.used_at.in_(set(epochs.values())), of.epoch.in_(epochs))
    for epoch, key in connection.execute(keys):
        note(epoch, idempotency_key=key.rpartition("\n")[2])
    loads = sa.select(jobs.c.epoch, jobs.c.id).where(jobs.c.kind == _LOAD, jobs.c.epoch.in_(epochs))
    for epoch, id in connection.execute(loads):
        note(epoch, load=id)
    for epoch, name in connection.execute(
        sa.select(sources.c.epoch, sources.c.name).where(sources.c.epoch.in_(epochs))
    ):
        note(epoch, source=name)
    merged = sa.select(merges.c.into_epoch, branches.c.name).join(branches, branches.c.id == merges.c.branch)
    for epoch, name in connection.execute(
        merged.where(branches.c.parent == branch, merges.c.into_epoch.in_(epochs))
    ):
        note(epoch, merged=name)
    return found
