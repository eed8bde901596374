"""A stage: an advance that is computed, but neither published nor aborted yet."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from engine.operators.operator import Operator
from engine.runtime.execution import Scanned
from engine.state.packed_times import Frontier
from engine.state.store.manifest import Manifest


class Stage:
    """A computed advance: `publish` makes all of it visible, `abort` drops all of it."""

    def __init__(
        self,
        frontier: Frontier,
        operators: dict[Hashable, Operator],
        publish: Callable[[Stage], None],
        abort: Callable[[Stage], None],
    ) -> None:
        """`operators` are those from before the advance; `publish` and `abort` are the engine's callbacks."""
        self.frontier = frontier
        """The least times that are not complete once the stage is published."""
        self.failed: dict[str, str] = {}
        """The views that failed in this advance, with the reasons."""
        self.over_budget: set[str] = set()
        """Those of them that have failed only because they needed more than the advance could give."""
        self.operators = operators
        """The dataflow's operators before the advance, to be restored on abort."""
        self.manifest: Manifest | None = None
        """The state after publishing, if an executor computed the advance and so all state is in files."""
        self.scanned = Scanned()
        """What the scans of the advance read."""
        self.declined = ""
        """Why the executor declined, if the advance was computed here instead."""
        self._publish = publish
        self._abort = abort

    def publish(self) -> None:
        """Make all of the advance visible. Raises EpochError if it was published or aborted already."""
        self._publish(self)

    def abort(self) -> None:
        """Drop the advance. Raises EpochError if it was published or aborted already."""
        self._abort(self)
