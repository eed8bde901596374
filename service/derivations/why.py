"""Why a view has a row: the search over its own definition, and over those of the views that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from engine.operators.allowance import Spending
from engine.runtime.engine import Snapshot
from engine.state.dictionary import Dictionary
from planner.ir import RelationalProgram
from service.catalog.details import Seen
from service.definitions.definition import Definition
from service.derivations.absence import Absence
from service.derivations.facts import Facts
from service.derivations.prepared_program import PreparedPrograms
from service.derivations.program_queries import ProgramQueries
from service.derivations.reason import Explained, Reason
from service.derivations.search import Search, SearchLimits
from service.derivations.seen_rows import SeenRows
from service.errors import Conflict, NotFound


@dataclass(frozen=True, eq=False)
class AskedEpoch:
    """What an explanation is computed from: an epoch of a snapshot, and the definitions of that moment. `now`
    is the time of the epoch, in UTC. `prepared` are the programs of earlier questions."""

    definitions: Mapping[str, Definition]
    snapshot: Snapshot
    epoch: int
    now: datetime
    dictionary: Dictionary
    max_rounds: int
    limits: SearchLimits
    prepared: PreparedPrograms = field(default_factory=PreparedPrograms)


class Why:
    """Explains rows at one epoch. One thread uses it, for one question."""

    def __init__(self, asked: AskedEpoch, spending: Spending) -> None:
        """All queries together may use the spending."""
        self._asked = asked
        self._spending = spending
        self._facts = Facts(asked.limits.facts)
        self._searches: dict[str, Search] = {}
        self._absences: dict[str, Absence] = {}

    def of_view(self, view: Definition, words: np.ndarray) -> Explained:
        """Why a view has a row int64[W]. Raises NotFound if it has not, Conflict for a view without a
        plan."""
        search, asked = self._of(view), self._asked
        rows, counts = asked.snapshot.rows(view.name, asked.epoch)
        count = int(counts[(rows == words[:, np.newaxis]).all(axis=0)].sum())
        if not count:
            raise NotFound(f"view {view.name} has no such row at epoch {asked.epoch}", code="unknown_row")
        return self._explained(search, words, count)

    def of_query(self, program: RelationalProgram) -> tuple[np.ndarray, int, Explained] | None:
        """Why a query has its first row, with the row int64[W], and how many rows it has; None if none."""
        search = self._search(program, {})
        words, counts = search.queries.result()
        if not counts.size:
            return None
        return words[:, 0], int(counts.sum()), self._explained(search, words[:, 0], int(counts[0]))

    def why_not(self, view: Definition, wish: Mapping[str, int]) -> Reason:
        """Why a view has no row with the wished words, by column. Raises Conflict if it has one, or no
        plan."""
        asked, schema = self._asked, view.schema
        rows, counts = asked.snapshot.rows(view.name, asked.epoch)
        places, words = [schema.index(name) for name in wish], np.array(list(wish.values()), np.int64)
        if counts[(rows[places] == words[:, np.newaxis]).all(axis=0)].size:
            raise Conflict(
                f"view {view.name} has such a row at epoch {asked.epoch}", "ask why", code="row_is_there"
            )
        return self._absence(view).reason(wish)

    def _absence(self, view: Definition) -> Absence:
        if view.name not in self._absences:
            self._absences[view.name] = Absence(self._of(view).queries, self._read_absence)
        return self._absences[view.name]

    def _read_absence(self, name: str) -> Absence | None:
        read = self._asked.definitions.get(name)
        return None if read is None or not read.is_view else self._absence(read)

    def _explained(self, search: Search, words: np.ndarray, count: int) -> Explained:
        reason = search.reason(tuple(words.tolist()))
        self._facts.explain_all()
        return Explained(reason, count, self._facts.explained, self._facts.is_cut)

    def _of(self, view: Definition) -> Search:
        """The search over a view."""
        if view.planned is None:
            raise Conflict(f"view {view.name} cannot run: {view.failure}", code="view_failed")
        if view.name not in self._searches:
            self._searches[view.name] = self._search(view.planned.logical, view.details.sees)
        return self._searches[view.name]

    def _read(self, name: str) -> Search | None:
        """The search over a relation that a query reads, if that is a view."""
        read = self._asked.definitions.get(name)
        return None if read is None or not read.is_view else self._of(read)

    def _search(self, program: RelationalProgram, sees: Mapping[str, Seen]) -> Search:
        asked = self._asked
        rows = SeenRows(
            asked.definitions,
            asked.snapshot,
            asked.epoch,
            sees,
            asked.dictionary,
            asked.max_rounds,
            self._spending,
        )
        queries = ProgramQueries(asked.prepared.of(program, asked.now), rows)
        return Search(queries, asked.limits, self._facts, self._read)
