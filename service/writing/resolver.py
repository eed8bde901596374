"""The resolver: which requests can be made over the newest state, and what they change there.

Requests are resolved as a group, in order. One that conflicts with the rows before it is refused alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.runtime.engine import Engine, Snapshot
from service.changes.constraints import Broken
from service.changes.lateness import Lateness
from service.changes.resolve import Net, TableBatch, conflict_of, key_conflict, named_key
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.errors import Conflict, ServiceError
from service.writing.request import Request, replaced


@dataclass(frozen=True, eq=False)
class Resolution:
    """Which requests `alive` bool[R] can be made, the errors of the others by place, and by table the net
    effect of those that can. `late` has the places of the changes of each table that came too late.
    """

    alive: np.ndarray
    refused: dict[int, ServiceError]
    nets: dict[str, Net]
    late: dict[str, LateChanges]

    def late_of(self, place: int) -> int:
        """How many rows of a request are left out, because they came too late."""
        return sum(int((part.request == place).sum()) for part in self.late.values()) if self.late else 0


@dataclass(frozen=True, eq=False)
class LateChanges:
    """Rows int64[W, n] of a table that came too late, with the places int64[n] of their requests."""

    words: np.ndarray
    request: np.ndarray


class Resolver:
    """Used on the writer's thread; any thread may call `alone`."""

    def __init__(self, engine: Engine, definitions: Definitions) -> None:
        self._engine = engine
        self._definitions = definitions

    def group(self, requests: Sequence[Request]) -> Resolution:
        """Resolves requests over the newest state."""
        alive = np.ones(len(requests), np.bool_)
        refused: dict[int, ServiceError] = {}
        parts: dict[str, list[tuple[int, TableChanges]]] = {}
        for place, request in enumerate(requests):
            error = self.changed(request)
            if error is not None:
                refused[place] = error
                alive[place] = False
                continue
            for definition, changes in request.parts:
                if len(changes):
                    parts.setdefault(definition.name, []).append((place, changes))
        known, snapshot = self._definitions.known, self._engine.snapshot
        batches = {table: self._batch(known.all[table], snapshot, named) for table, named in parts.items()}
        bonded = bool(known.bonds.of(batches))
        while True:
            conflicts = [
                (*found, table)
                for table, batch in batches.items()
                if (found := batch.conflict(alive)) is not None
            ]
            place, at, op, table = min(conflicts, default=(len(requests), 0, ChangeOp.INSERT, ""))
            if bonded:
                # A later request may conflict only because of an earlier one that is now refused.
                sure = alive & (np.arange(len(requests)) < place)
                broken = self._broken(_nets(batches, sure))
                if broken is not None:
                    refused[broken.request] = broken.error
                    alive[broken.request] = False
                    continue
            if not conflicts:
                return Resolution(alive, refused, _nets(batches, alive), _late(batches, alive))
            start = sum(len(changes) for other, changes in parts[table] if other < place)
            row = self._named(table, batches[table].row(at))
            refused[place] = conflict_of(table, op, at - start, row, self._is_append_only(table))
            alive[place] = False

    def alone(self, request: Request, snapshot: Snapshot) -> dict[str, Net]:
        """The net effect of a request that stands alone, over a snapshot. Raises Conflict."""
        alive = np.ones(1, np.bool_)
        batches = {
            definition.name: self._batch(definition, snapshot, [(0, part)])
            for definition, part in request.parts
            if len(part)
        }
        found = ((batch.conflict(alive), table) for table, batch in batches.items())
        conflicts = [(conflict[1:], table) for conflict, table in found if conflict is not None]
        if conflicts:
            (at, op), table = min(conflicts)
            row = self._named(table, batches[table].row(at))
            raise conflict_of(table, op, at, row, self._is_append_only(table))
        return _nets(batches, alive)

    def changed(self, request: Request) -> ServiceError | None:
        """The error if a table is no longer the one that the request was made for."""
        for definition, _ in request.parts:
            if self.is_replaced(definition):
                return replaced(definition)
        return None

    def is_replaced(self, definition: Definition) -> bool:
        """Whether a table has been dropped, altered or created again since it was looked up."""
        now = self._definitions.all.get(definition.name)
        return now is None or now.filling is not definition.filling or now.id != definition.id

    def is_followed(self, request: Request) -> bool:
        """Whether a foreign key makes other rows follow what the request deletes or replaces."""
        bonds = self._definitions.known.bonds
        return bonds.any_follow and any(
            (part.removes.any() and bonds.on_delete(definition.name))
            or ((part.ops == ChangeOp.UPSERT).any() and bonds.on_update(definition.name))
            for definition, part in request.parts
        )

    def stands_alone(self, request: Request) -> bool:
        """Whether no constraint or watermark compares the request's rows with others."""
        if any(definition.watermark is not None for definition, _ in request.parts):
            return False
        return not self._definitions.known.bonds.of(definition.name for definition, _ in request.parts)

    def key_taken(self, definition: Definition, key: tuple[int, ...]) -> Conflict:
        """The error of a load for a key, in words, that another row has."""
        words = np.array(key, np.int64)
        return key_conflict(definition.name, definition.key_schema, words, self._engine.dictionary)

    def _named(self, table: str, row: np.ndarray) -> str:
        relation = self._definitions.all[table].relation
        return named_key(relation.schema, relation.key, row, self._engine.dictionary)

    def _broken(self, nets: Mapping[str, Net]) -> Broken | None:
        snapshot, dictionary = self._engine.snapshot, self._engine.dictionary
        return self._definitions.known.bonds.broken(nets, snapshot, dictionary)

    def _batch(
        self, definition: Definition, snapshot: Snapshot, parts: list[tuple[int, TableChanges]]
    ) -> TableBatch:
        table, key = definition.name, definition.relation.key
        request = np.repeat([place for place, _ in parts], [len(changes) for _, changes in parts])
        changes = TableChanges.concat([changes for _, changes in parts])
        grows, late = definition.details.rules.append_only, Lateness.of(definition.relation, snapshot)
        return TableBatch(changes, request, key, lambda keys: snapshot.lookup(table, keys), grows, late)

    def _is_append_only(self, table: str) -> bool:
        return self._definitions.all[table].details.rules.append_only


def _late(batches: Mapping[str, TableBatch], alive: np.ndarray) -> dict[str, LateChanges]:
    found = {table: (batch, batch.late(alive)) for table, batch in batches.items()}
    return {table: LateChanges(*batch.of(places)) for table, (batch, places) in found.items() if len(places)}


def _nets(batches: Mapping[str, TableBatch], alive: np.ndarray) -> dict[str, Net]:
    return {table: batch.net(alive) for table, batch in batches.items()}
