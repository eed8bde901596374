"""Forking: an engine that goes on from the state of another.

Its epochs are numbered from a number of its own on, which must be greater than all epochs of the other, and
of these it can read none: its history begins with the epoch at which it begins.

It begins with an epoch that the other has kept. For an earlier one than the newest, it takes back what the
sources have changed since, in one advance, which costs these changes. Views that read the time, or have
forgotten rows of inputs that only grow, cannot follow it back, and are computed anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.errors import EngineError, EpochError
from engine.plan.clocked import CLOCK
from engine.plan.nodes import Node, Reduce, TopK, nodes_of, sources_of
from engine.runtime.engine import Engine
from engine.runtime.fork import Fork
from engine.runtime.options import Options


def forked(fork: Fork, beginning: int, options: Options) -> Engine:
    """An engine with the state of a fork, readable from epoch `beginning` on.

    Views that had failed by the fork's epoch stay as they are; those that failed later are computed anew.
    Raises EpochError if the beginning is not after all epochs of the other engine.
    """
    if beginning < fork.snapshot.upper:
        raise EpochError(f"epoch {beginning} is one of the engine that is forked")
    engine = Engine(options, first=beginning, dictionary=fork.dictionary)
    goes_back = fork.epoch < fork.snapshot.upper - 1
    anew = [name for name, plan in fork.views.items() if goes_back and not _follows_back(plan)]
    for name, table in fork.sources.items():
        engine.create_source(name, table.node.schema, table.key, state=fork.ground)
    for name, plan in fork.views.items():
        if name in fork.failed or name in anew:
            continue
        if not engine.restore_view(name, plan, fork.ground):
            raise EngineError(f"the state of view {name} is not there")
    engine.stage(_taken_back(fork, beginning), beginning + 1).publish()
    for name, relation in fork.failed.items():
        if relation.lost is None or relation.lost <= fork.epoch:
            engine.restore_failed(name, relation)
        elif name not in anew:
            anew.append(name)
    for name in tuple(engine.snapshot.relations):
        if engine.snapshot.failure(name) is None:
            engine.forget(name, beginning, at_once=False)
    for name in anew:
        try:
            engine.create_view(name, fork.views[name])
        except EngineError as error:
            lost = replace(fork.snapshot.relations[name], failure=error.message, lost=beginning)
            engine.restore_failed(name, lost)
    return engine


def _follows_back(plan: Node) -> bool:
    """Whether a view's state can follow changes that its sources take back."""
    forgetful = (node for node in nodes_of(plan) if isinstance(node, TopK | Reduce) and node.kept is not None)
    return CLOCK not in sources_of(plan) and not any(forgetful)


def _taken_back(fork: Fork, epoch: int) -> dict[str, np.ndarray]:
    """By source, the inverse of what has changed since the fork's epoch."""
    newest = fork.snapshot.upper - 1
    deltas: dict[str, np.ndarray] = {}
    if fork.epoch < newest:
        for name in fork.sources:
            words, diffs = fork.snapshot.net_changes(name, fork.epoch, newest)
            if len(diffs):
                deltas[name] = np.vstack((words, np.full(len(diffs), epoch, np.int64), -diffs))
    return deltas
