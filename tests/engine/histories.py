"""Random histories, and the check of a plan against the oracle at every epoch, however they are chopped.

The engine gets the same history one epoch at a time, in random pieces before and after the view is created,
and all at once; and with every loop rebuilt where it can be, and every stage aborted once. It divides each
piece into stretches of a random size. It must answer with the oracle's rows at every epoch and with the same
differences each time. Words are small numbers, or NULL where a column may be it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from unittest.mock import patch

from engine.kernels.words import NULL
from engine.operators import stretches
from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Node, Source
from engine.runtime.engine import Engine, Options
from tests.engine.harness import Bag, bag, delta
from tests.oracle.interpreter import Oracle, OracleError

EPOCHS = 7
VALUES = 4

Changes = dict[str, list[tuple[tuple[int, ...], int, int]]]


def random_history(
    rng: random.Random, sources: Sequence[Source], most: int = 3
) -> tuple[list[Changes], list[dict[str, Bag]]]:
    """The changes of each epoch, up to `most` a source, and the sources after it."""
    tables: dict[str, Bag] = {source.name: Counter() for source in sources}
    history: list[Changes] = []
    states: list[dict[str, Bag]] = []
    for epoch in range(1, EPOCHS + 1):
        changes: Changes = {}
        for source in sources:
            rows = tables[source.name]
            lines = changes[source.name] = []
            for _ in range(rng.choice((0, 0, *range(1, most + 1)))):
                if rows and rng.random() < 0.45:
                    row, diff = rng.choice(sorted(rows)), -1
                else:
                    row, diff = tuple(_word(rng, column.nullable) for column in source.schema.columns), 1
                rows[row] += diff
                if not rows[row]:
                    del rows[row]
                lines.append((row, epoch, diff))
        history.append(changes)
        states.append({name: Counter(rows) for name, rows in tables.items()})
    return history, states


def _word(rng: random.Random, nullable: bool) -> int:
    word = rng.randrange(VALUES + nullable)
    return NULL if word == VALUES else word


def run(
    plan: Node,
    sources: Sequence[Source],
    history: list[Changes],
    pieces: list[int],
    created_after: int,
    rebuild: Rebuild = Rebuild.NEVER,
    stretch: int = stretches.CHANGES,
) -> Engine | None:
    """An engine that gets the history in pieces of so many epochs, and divides these into stretches of so
    many changes; None if the view fails."""
    with patch.object(stretches, "CHANGES", stretch):
        return _run(plan, sources, history, pieces, created_after, rebuild)


def _run(
    plan: Node,
    sources: Sequence[Source],
    history: list[Changes],
    pieces: list[int],
    created_after: int,
    rebuild: Rebuild,
) -> Engine | None:
    engine = Engine(Options(max_rounds=300, rebuild=rebuild))
    for source in sources:
        engine.create_source(source.name, source.schema)
    done = 0
    for index, size in enumerate([*pieces, 0]):
        if index == created_after:
            engine.create_view("view", plan)
        epochs = history[done : done + size]
        done += size
        deltas = {
            source.name: delta(
                len(source.schema), [line for changes in epochs for line in changes[source.name]]
            )
            for source in sources
        }
        if rebuild is Rebuild.ALWAYS:
            engine.stage(deltas, done + 1).abort()
        stage = engine.stage(deltas, done + 1)
        if stage.failed:
            stage.abort()
            return None
        stage.publish()
    return engine


def check(plan: Node, sources: Sequence[Source], rng: random.Random, seed: int, most: int = 3) -> bool:
    """The plan's rows and differences over a random history; `seed` is for the message.

    False if there was nothing to compare, for a loop of the plan has no fixed point.
    """
    return check_history(plan, sources, *random_history(rng, sources, most), rng, seed)


def check_history(
    plan: Node,
    sources: Sequence[Source],
    history: list[Changes],
    states: list[dict[str, Bag]],
    rng: random.Random,
    seed: int,
) -> bool:
    """The same over a history, of which `states` has the sources at each epoch."""
    try:
        expected = [_as_words(Oracle(_as_values(state)).rows(plan)) for state in states]
    except OracleError:
        return False
    every = [1] * EPOCHS
    chopped: list[int] = []
    while sum(chopped) < EPOCHS:
        chopped.append(rng.randint(1, EPOCHS - sum(chopped)))
    runs = [
        (every, 0, Rebuild.NEVER),
        (every, rng.randint(0, 3), Rebuild.ALWAYS),
        (chopped, 0, Rebuild.AUTO),
        (chopped, rng.randint(0, len(chopped)), Rebuild.ALWAYS),
        ([EPOCHS], 1, Rebuild.AUTO),
    ]
    changes = []
    for pieces, created_after, rebuild in runs:
        stretch = rng.choice((1, 4, stretches.CHANGES))
        how = (pieces, created_after, rebuild, stretch)
        engine = run(plan, sources, history, *how)
        assert engine is not None, (seed, plan)
        for epoch, rows in enumerate(expected, 1):
            assert bag(engine, "view", epoch) == rows, (seed, how, epoch, plan)
        changes.append(engine.snapshot.changes("view", 0, EPOCHS).tolist())
    assert all(same == changes[0] for same in changes), (seed, plan)
    return True


def _as_values(state: dict[str, Bag]) -> dict[str, Bag]:
    return {
        name: Counter({tuple(None if w == NULL else w for w in row): count for row, count in rows.items()})
        for name, rows in state.items()
    }


def _as_words(rows: Bag) -> Bag:
    return Counter({tuple(NULL if v is None else v for v in row): count for row, count in rows.items()})
