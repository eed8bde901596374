"""A fork: an engine's state at one moment, from which another engine goes on by itself.

Batches never change, so nothing is copied: a fork holds the batches of all state, and shares the dictionary.
Its cost follows the number of operators, whatever the number of rows. While it is there, the engine that it
comes from keeps apart the epochs from `epoch` on, and the dictionary keeps all of its entries.

`Engine.fork` takes one, on the writer's thread. Any thread may then start an engine from it: see
`engine.runtime.forking`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from engine.operators.operator import Operator
from engine.plan.nodes import Node
from engine.runtime.execution import JobTable
from engine.runtime.kept import kept_states
from engine.runtime.state_ground import StateGround
from engine.state.dictionary import Dictionary, Lease
from engine.state.snapshot import RelationSnapshot, Snapshot


@dataclass(frozen=True, eq=False)
class Fork:
    """The state at `snapshot`, of which the other engine wants epoch `epoch`.

    `failed` are the views that were not maintained any more.
    """

    sources: Mapping[str, JobTable]
    views: Mapping[str, Node]
    failed: Mapping[str, RelationSnapshot]
    ground: StateGround
    snapshot: Snapshot
    epoch: int
    dictionary: Dictionary
    lease: Lease

    def departed(self, operators: Iterable[tuple[Hashable, Operator]]) -> int:
        """The bytes that operators, which began with this state, hold besides it."""
        held = 0
        for name, state in kept_states(operators):
            ground = self.ground.traces.get(name)
            known = set() if ground is None else set(map(id, ground.layers))
            held += sum(layer.bytes for layer in state.trace.layers() if id(layer) not in known)
        return held
