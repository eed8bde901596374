"""The rows of functions of relations in FROM: how branches differ, and the rounds of a recursion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from engine.schema import BIGINT, Column, Schema
from engine.state.reading import Rows
from planner.adhoc.adhoc_query import SnapshotReference
from planner.adhoc.relation_functions import DIFF, RelationCall
from planner.evidence.explainable import reads_time
from service.accounts.privileges import Privilege
from service.definitions.definition import Definition
from service.derivations.asking import answered, check_readable, tables_of
from service.derivations.round_listing import rounds_of
from service.derivations.search import SearchLimits
from service.derivations.why import AskedEpoch
from service.errors import Invalid
from service.reading.callers import Caller
from service.reading.more_columns import with_columns
from service.running.runtime import Runtime
from service.running.timeline import Timeline

_ROUND_COLUMNS = (Column("_round", BIGINT, nullable=False), Column("_diff", BIGINT, nullable=False))


@dataclass(frozen=True, eq=False)
class CalledRows:
    """Rows of a schema of their own. `texts` keeps their texts."""

    schema: Schema
    rows: Rows
    texts: object


@dataclass(frozen=True, eq=False)
class RelationCalls:
    """The functions as a caller may call them on a timeline."""

    runtime: Runtime
    timeline: Timeline
    caller: Caller

    def rows(self, reference: SnapshotReference, call: RelationCall, epoch: int | None) -> CalledRows:
        """The rows of a call, at an epoch or at the newest. Raises what the function raises."""
        if call.function == DIFF:
            found = self.runtime.branches.difference(reference.relation, *call.texts)
            return CalledRows(found.whole, found.rows, found.texts)
        view = self.timeline.readable.known.get(reference.relation, view=True)
        return self._rounds(view, call.texts[0] if call.texts else None, epoch)

    def _rounds(self, view: Definition, name: str | None, epoch: int | None) -> CalledRows:
        """Each row of a recursion with the round in which it came, or with a negative `_diff` went."""
        self.caller.principal.require(Privilege.SELECT, *tables_of(view))
        asked = self._asked(view, epoch)
        check_readable(view, asked)
        found = answered(
            f"view {view.name}", self.caller, lambda spending: rounds_of(asked, view, name, spending)
        )
        schema = with_columns(found.schema, *_ROUND_COLUMNS, of=f"recursion {found.name}")
        ones = np.ones(found.delta.shape[1], np.int64)
        return CalledRows(schema, (found.delta, ones), asked.snapshot.texts)

    def _asked(self, view: Definition, epoch: int | None) -> AskedEpoch:
        readable = self.timeline.readable
        assert view.planned is not None
        if epoch not in (None, readable.newest) and reads_time(view.planned.logical):
            raise Invalid(
                f"view {view.name} reads the time, and its rounds are those of the newest epoch",
                f"GET /v1/views/{view.name}/rounds takes earlier ones",
                code="invalid_request",
            )
        return AskedEpoch(
            readable.known.all,
            readable.snapshot,
            readable.newest if epoch is None else epoch,
            datetime(1970, 1, 1) + timedelta(microseconds=self.timeline.newest_time),
            self.timeline.dictionary,
            self.runtime.settings.max_rounds,
            SearchLimits(),
        )
