"""The referee of explanations: the view over the rows of an explanation alone has the row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from engine.operators.allowance import UNLIMITED, Spending
from engine.plan.nodes import sources_of
from engine.runtime.engine import Engine
from planner.ir import JoinKind, SetKind, SetOp, TableScan, ThetaJoin, Top
from service.definitions.definition import Definition
from service.derivations.reason import Explained
from service.derivations.search import SearchLimits
from service.derivations.why import AskedEpoch, Why


def explained(
    engine: Engine, definitions: Mapping[str, Definition], view: str, row: np.ndarray, epoch: int
) -> Explained:
    limits = SearchLimits(causes=1000, facts=5000)
    asked = AskedEpoch(
        definitions, engine.snapshot, epoch, datetime(2026, 1, 1), engine.dictionary, 1000, limits
    )
    return Why(asked, Spending(UNLIMITED)).of_view(definitions[view], row)


def is_closed(view: Definition, definitions: Mapping[str, Definition]) -> bool:
    """Whether rows that an explanation leaves out may keep other rows away, so that a group has more rows
    over the explanation alone."""
    assert view.planned is not None
    waiting = [*view.planned.optimized.definitions, view.planned.optimized.root]
    while waiting:
        operator = waiting.pop()
        match operator:
            case ThetaJoin(kind=kind) if kind not in (JoinKind.INNER, JoinKind.SEMI):
                return True
            case SetOp(kind=SetKind.EXCEPT) | Top():
                return True
            case TableScan(name=name) if definitions[name].is_view:
                if is_closed(definitions[name], definitions):
                    return True
        waiting += operator.inputs
    return False


def makes(
    engine: Engine, view: Definition, row: np.ndarray, found: Explained, without: object = None
) -> bool:
    """Whether the view over the rows of an explanation, `without` one of them, has the row."""
    replay = Engine(dictionary=engine.dictionary)
    tables = found.tables()
    for source in sources_of(view.relation.plan):
        rows = {words: it for words, it in tables.get(source.name, {}).items() if it is not without}
        words = np.array(list(rows), np.int64).reshape(len(rows), len(source.schema)).T
        times = np.array([reason.times for reason in rows.values()], np.int64)
        delta = np.vstack((words, np.zeros(len(rows), np.int64), times))
        replay.create_source(source.name, source.schema, kept=(np.ascontiguousarray(delta), 0))
    replay.create_view(view.name, view.relation.plan)
    words, _ = replay.snapshot.rows(view.name)
    return bool((words == row[:, np.newaxis]).all(axis=0).any())
