"""Nodes that depend on the clock: rows valid between two moments, and today's date."""

from __future__ import annotations

import numpy as np

from engine.errors import PlanError
from engine.operators import temporal
from engine.operators.operator import Operator
from engine.operators.temporal import Moments
from engine.plan.clocked import CLOCK, Temporal, Today
from engine.rendering.layout import word_positions
from engine.rendering.rendering import Rendering
from engine.rendering.scopes import Rendered, RenderScope, plain


class ClockNodes(Rendering):
    """Rows are arranged by each of their moments, one arrangement for `since` and one for `until`."""

    def _temporal(self, node: Temporal, scope: RenderScope) -> Rendered:
        if not self.times.is_total:
            raise PlanError("the clock needs times that are epochs; here they have several coordinates")
        clock = self.keyed_arrangement(node.clock, (), scope)
        by_since = self._by(node, node.since, scope)
        by_until = self._by(node, node.until, scope)
        by_time = node.clock == CLOCK
        operator = scope.put(node, lambda: temporal.TemporalOperator(clock, by_since, by_until, by_time))
        return plain(operator, len(node.schema))

    def _by(self, node: Temporal, moment: int | None, scope: RenderScope) -> tuple[Operator, Moments] | None:
        """The input arranged by one of its moments, and where its columns are; None if the node has no such
        moment."""
        if moment is None:
            return None
        place = word_positions(len(node.schema), (moment,))
        columns = np.array([place[column] for column in range(len(place))])
        since, until = (None if m is None else place[m] for m in (node.since, node.until))
        return self.keyed_arrangement(node.input, (moment,), scope), Moments(columns, since, until)

    def _today(self, node: Today, scope: RenderScope) -> Rendered:
        clock = self.select(CLOCK, scope)
        return plain(scope.put(node, lambda: temporal.TodayOperator([clock])), len(node.schema))
