"""A stage: an advance that is computed, and neither published nor aborted yet."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from engine.operators.operator import Operator
from engine.runtime.execution import Scanned
from engine.state.packed_times import Frontier
from engine.state.store.manifest import Manifest


class Stage:
    """A computed advance: `publish` makes all of it visible, `abort` none."""

    def __init__(
        self,
        frontier: Frontier,
        operators: dict[Hashable, Operator],
        publish: Callable[[Stage], None],
        abort: Callable[[Stage], None],
    ) -> None:
        """`operators` ran before it; `publish` and `abort` are what its engine does for either."""
        self.frontier = frontier
        self.failed: dict[str, str] = {}
        """The views that cannot be computed, and why."""
        self.operators = operators
        self.manifest: Manifest | None = None
        """The state when this is published, if all of it is in files: where it was computed elsewhere."""
        self.scanned = Scanned()
        self.declined = ""
        """Why it was computed here after all."""
        self._publish = publish
        self._abort = abort

    def publish(self) -> None:
        self._publish(self)

    def abort(self) -> None:
        self._abort(self)
