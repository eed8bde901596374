"""Dataflows: inputs that change, outputs that follow, and the times of both.

  flow = Dataflow()
  edges = flow.input("edges", source=int, target=int)
  degrees = edges.count("source").output()
  edges.insert((1, 2))
  flow.advance()
  degrees.rows()      # {(1, 1): 1}

Changes wait in their inputs until `advance` says that no more will come at their times. Then all outputs are
updated to every such time, together; on an error, none is.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.collection import Collection
from engine.api.flow import Flow, Probe
from engine.api.inputs import Input
from engine.api.loop_scope import Scope
from engine.api.outputs import Output
from engine.api.python_types import schema_from
from engine.errors import EngineError, EpochError
from engine.operators.rebuild import LoopStatistics
from engine.plan.nodes import Constant, Source
from engine.runtime.engine import DEFAULTS, Options
from engine.state.packed_times import Frontier, Time


class Dataflow(Flow):
    """Inputs, outputs and the collections between them.

    Times are epochs 0, 1, 2 and so on; or, with the names of several coordinates, tuples in the product
    order: `Dataflow("version", "epoch")`.
    """

    def __init__(self, *coordinates: str, options: Options = DEFAULTS) -> None:
        super().__init__(*coordinates, options=options)
        self._inputs: dict[str, Input] = {}

    # Inputs and outputs

    def input(self, name: str, /, **columns: object) -> Input:
        """A collection that is changed from outside.

        Columns are given as name=type: int, float, bool, str, date, datetime, one of them | None, or a
        `Type`.
        """
        schema = schema_from(columns)
        self.engine.create_source(name, schema)
        self._inputs[name] = Input(self, Source(name, schema))
        return self._inputs[name]

    def collection(self, rows: Iterable[tuple], /, **columns: object) -> Collection:
        """A collection of constant rows, which exist from the first time on."""
        return Collection(self, Constant(tuple(rows), schema_from(columns)))

    def scope(self, rounds: int | None = None) -> Scope:
        """A loop over several collections that are defined by each other."""
        return Scope(self, rounds)

    def output(self, collection: Collection) -> Output:
        """Maintain a collection, from all the history that its inputs still have."""
        return collection.output()

    def probe(self) -> Probe:
        """A handle that knows which times are complete."""
        return Probe(self)

    # Times

    def advance(self, *frontier: Time) -> None:
        """Complete all times that are not at or after one of `frontier`; for epochs, by default the current
        one.

        Raises EpochError if the frontier goes back, or if it is left out although times have several
        coordinates. Any other EngineError leaves everything as it was, waiting changes included.
        """
        if not frontier:
            if not self.order.is_total:
                raise EpochError(
                    f"advance needs a frontier: times have the coordinates {', '.join(self.order.names)}"
                )
            frontier = (self.time + 1,)  # type: ignore[operator]
        upper = self._frontier(frontier)
        deltas = {
            name: delta
            for name, input in self._inputs.items()
            if (delta := input.pending_until(upper)).shape[1]
        }
        stage = self.engine.stage(deltas, upper)
        if stage.failed:
            stage.abort()
            raise EngineError("; ".join(dict.fromkeys(stage.failed.values())))
        stage.publish()
        for input in self._inputs.values():
            input.taken(upper)

    def forget(self, *frontier: Time) -> None:
        """Give up times that none at or after `frontier` tells apart: they cannot be read any more."""
        before = self._frontier(frontier)
        for name in self.engine.snapshot.relations:
            self.engine.forget(name, before)

    def _frontier(self, times: tuple[Time, ...]) -> Frontier:
        return Frontier(self.order, self.order.frontier(self.order.pack(time) for time in times))

    # Costs

    def differences(self) -> int:
        """The number of differences in all traces, those of inputs and outputs included."""
        return self.engine.differences()

    def statistics(self) -> list[LoopStatistics]:
        """How each loop was maintained so far: updated by changes alone, or rebuilt, and why."""
        return self.engine.statistics()
