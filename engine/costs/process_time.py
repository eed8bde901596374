"""The time of a process that builds a view, besides what its rows take.

It starts, and loads the kernels that its operators call. So the plan is computed in such a process over a few
rows, which stand in it as constants; what that took is remembered for plans with operators of the same kinds.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from time import monotonic

import numpy as np

from engine.codec.json import decode_rows
from engine.costs.machine_constants import job_seconds, machine_constants
from engine.errors import EngineError
from engine.plan.nodes import Constant, Node, Source
from engine.plan.rebuilding import over
from engine.state.dictionary import Dictionary

_OLD, _MOST = 300.0, 1_000
_lock = threading.Lock()
_known: dict[frozenset[str], tuple[float, float]] = {}
"""For plans with operators of these kinds, when their process was measured, and its seconds."""


def process_seconds(
    plan: Node, kinds: frozenset[str], rows: Mapping[str, np.ndarray], dictionary: Dictionary
) -> float:
    """The seconds of a process that computes a plan over a few rows: deltas [W + 2, n] by source. Blocks."""
    with _lock:
        known = _known.get(kinds)
        if known is None or monotonic() - known[0] > _OLD:
            if len(_known) >= _MOST:
                _known.clear()
            known = _known[kinds] = monotonic(), _measured(plan, rows, dictionary)
        return known[1]


def _measured(plan: Node, rows: Mapping[str, np.ndarray], dictionary: Dictionary) -> float:
    usual = machine_constants().process
    try:
        return max(usual, job_seconds(_over_constants(plan, rows, dictionary)))
    except (EngineError, TypeError, ValueError):  # it fails, or a value cannot stand in a plan
        return usual


def _over_constants(plan: Node, rows: Mapping[str, np.ndarray], dictionary: Dictionary) -> Node:
    """The plan with rows in the place of its sources."""
    made: dict[Node, Node] = {}

    def change(node: Node) -> Node:
        known = made.get(node)
        if known is None:
            if isinstance(node, Source):
                known = _constant(node, rows.get(node.name), dictionary)
            else:
                known = over(node, change)
            made[node] = known
        return known

    return change(plan)


def _constant(source: Source, delta: np.ndarray | None, dictionary: Dictionary) -> Constant:
    if delta is None:
        return Constant((), source.schema)
    words = np.ascontiguousarray(delta[:-2, delta[-1] > 0])
    return Constant(tuple(map(tuple, decode_rows(words, source.schema, dictionary))), source.schema)
