"""MIN, MAX and the first rows by texts, against the definition, with retractions and chopped at random."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.plan.nearest_joins import NearestJoin
from engine.plan.nodes import (
    AggregateSpec,
    Concat,
    Function,
    Join,
    LoopBinding,
    Node,
    Ordering,
    Recursive,
    Reduce,
    Source,
    TopK,
    Variable,
    project,
)
from engine.runtime.engine import Engine
from engine.schema import BIGINT, TEXT, Column, Schema
from tests.oracle.evaluation import Row
from tests.oracle.interpreter import Bag, Oracle
from tests.seeds import SEED, seeds

NAMES = Schema((Column("k", BIGINT), Column("t", TEXT), Column("n", BIGINT)))
EDGES = Schema((Column("a", TEXT), Column("b", TEXT)))
S = Source("s", NAMES)
E = Source("e", EDGES)
TEXTS = (
    None,
    "",
    "\0",
    "\0\0\0\0\0\0\0\0\0",
    "a",
    "a\0",
    "b",
    "https://example.org/a",
    "https://example.org/b",
    "https://example.org/",
    "https://example.org/ä",
    "https://example.org/\U0001f600",
    "éclair",
    "\U0010ffff\U0010ffff\U0010ffff",
    "\uffff",
)
EPOCHS = 6


def labels() -> Node:
    """For each node the least text that it can be reached from, itself among them."""
    start = Concat((project(E, (0, 0)), project(E, (1, 1))))
    reached = Variable("reached", EDGES)
    along = project(Join(E, reached, (0,), (0,)), (1, 3))
    least = Reduce(Concat((start, along)), (0,), (AggregateSpec(Function.MIN, 1, TEXT, "b"),))
    return Recursive((LoopBinding("reached", least),), "reached")


PLANS = {
    "min": Reduce(S, (0,), (AggregateSpec(Function.MIN, 1, TEXT),)),
    "max": Reduce(S, (0,), (AggregateSpec(Function.MAX, 1, TEXT),)),
    "first": TopK(S, (0,), (Ordering(1), Ordering(2, True)), 2, 1),
    "last": TopK(S, (), (Ordering(1, True),), 4),
    "nulls first": TopK(S, (), (Ordering(0), Ordering(1, True, True)), 3, 2),
    "nearest": NearestJoin(S, S, (0,), (0,), 1, (Ordering(1, True), Ordering(2, True, True)), True, True),
    "next": NearestJoin(E, S, (), (), 0, (Ordering(1), Ordering(0)), False, False),
    "labels": labels(),
}


def random_history(rng: random.Random) -> list[dict[str, list[tuple[Row, int]]]]:
    """The changes (row, diff) of each source in every epoch."""
    tables: dict[str, Bag] = {"s": Counter(), "e": Counter()}
    history = []
    texts = rng.sample(TEXTS, 6)
    for _ in range(EPOCHS):
        changes: dict[str, list[tuple[Row, int]]] = {"s": [], "e": []}
        for name, rows in tables.items():
            for _ in range(rng.randrange(6)):
                if rows and rng.random() < 0.4:
                    row, diff = rng.choice(list(rows)), -1
                elif name == "s":
                    row, diff = (rng.randrange(2), rng.choice(texts), rng.choice((None, 1, 2))), 1
                else:
                    row, diff = (rng.choice(texts), rng.choice(texts)), 1
                rows[row] += diff
                if not rows[row]:
                    del rows[row]
                changes[name].append((row, diff))
        history.append(changes)
    return history


def advance(engine: Engine, changes: dict[str, list[tuple[int, Row, int]]], upper: int) -> None:
    """Publish (epoch, row, diff) changes of sources."""
    deltas = {}
    for name, lines in changes.items():
        words = encode_rows([row for _, row, _ in lines], engine.snapshot.schema(name), engine.dictionary)
        times = np.array([(epoch, diff) for epoch, _, diff in lines], np.int64).reshape(-1, 2).T
        deltas[name] = np.ascontiguousarray(np.concatenate((words, times)))
    stage = engine.stage(deltas, upper)
    assert not stage.failed
    stage.publish()


def rows(engine: Engine, name: str, epoch: int) -> Bag:
    words, counts = engine.snapshot.rows(name, epoch)
    decoded = decode_rows(words, engine.snapshot.schema(name), engine.dictionary)
    return Counter(dict(zip(map(tuple, decoded), counts.tolist(), strict=True)))


@pytest.mark.parametrize("name", PLANS)
def test_texts_at_every_epoch(name: str) -> None:
    plan = PLANS[name]
    for seed in seeds(20):
        rng = random.Random(seed)
        history = random_history(rng)
        chopped = sorted(rng.sample(range(1, EPOCHS), 2))
        for bounds in (list(range(EPOCHS + 1)), [0, *chopped, EPOCHS], [0, EPOCHS]):
            engine = Engine()
            engine.create_source("s", NAMES)
            engine.create_source("e", EDGES)
            engine.create_view("view", plan)
            for low, high in pairwise(bounds):
                epochs = range(low, high)
                changes = {
                    source: [(epoch + 1, *line) for epoch in epochs for line in history[epoch][source]]
                    for source in ("s", "e")
                }
                advance(engine, changes, high + 1)
            tables: dict[str, Bag] = {"s": Counter(), "e": Counter()}
            for epoch, changed in enumerate(history, 1):
                for source, lines in changed.items():
                    for row, diff in lines:
                        tables[source][row] += diff
                    tables[source] = +tables[source]
                assert rows(engine, "view", epoch) == Oracle(tables).rows(plan), (seed, bounds, epoch)


def test_many_texts_of_one_beginning_through_many_merges() -> None:
    """Large merges go on bit by bit while the dictionary grows."""
    rng = random.Random(SEED)
    engine = Engine()
    engine.create_source("s", NAMES)
    engine.create_view("view", TopK(S, (0,), (Ordering(1, True),), 3, 1))
    alive: list[str] = []
    for epoch in range(1, 40):
        lines = []
        for _ in range(300):
            if alive and rng.random() < 0.3:
                lines.append((epoch, (7, alive.pop(rng.randrange(len(alive))), 1), -1))
            text = f"/usr/share/{rng.randrange(10**6)}"
            alive.append(text)
            lines.append((epoch, (7, text, 1), 1))
        if epoch % 3 == 0:  # the greatest go
            for text in sorted(alive)[-20:]:
                alive.remove(text)
                lines.append((epoch, (7, text, 1), -1))
        advance(engine, {"s": lines}, epoch + 1)
        assert rows(engine, "view", epoch) == Counter((7, text, 1) for text in sorted(alive)[-4:-1])
