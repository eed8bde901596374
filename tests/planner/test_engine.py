"""Plans in the engine, with retractions: at every epoch a view holds what the oracle gives for its plan."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.runtime.engine import Engine
from engine.schema import Schema
from planner import PlannedQuery
from tests.corpus.corpus import KEYS, queries_without_windows
from tests.oracle.evaluation import Row
from tests.oracle.interpreter import Bag, interpret
from tests.oracle.referee import same_bag
from tests.planner.samples import ROWS, SCHEMAS, planned

QUERIES = queries_without_windows()[::6]


def halves() -> list[dict[str, Bag]]:
    """Differences by epoch: all rows, then every second one away, then the first ones back and others "
    "away."""
    every = {name: Counter(rows) for name, rows in ROWS.items()}
    some = {name: Counter(rows[::2]) for name, rows in ROWS.items()}
    return [
        every,
        {name: Counter({row: -count for row, count in bag.items()}) for name, bag in some.items()},
        {
            name: Counter({row: 2 * some[name][row] - count for row, count in bag.items()})
            for name, bag in every.items()
        },
    ]


def delta(changes: Bag, schema: Schema, engine: Engine, epoch: int) -> np.ndarray:
    rows = [(row, diff) for row, diff in changes.items() if diff]
    words = encode_rows([row for row, _ in rows], schema, engine.dictionary)
    tail = np.array([[epoch] * len(rows), [diff for _, diff in rows]], np.int64).reshape(2, len(rows))
    return np.ascontiguousarray(np.concatenate([words, tail]))


def decoded(rows: list[Row], counts: list[int], schema: Schema, engine: Engine) -> Bag:
    """The rows as the codec gives them, so that both sides are spelled alike."""
    words = encode_rows(rows, schema, engine.dictionary)
    return Counter(dict(zip(decode_rows(words, schema, engine.dictionary), counts, strict=True)))


def expected(query: PlannedQuery, state: dict[str, Bag], engine: Engine) -> Bag:
    bag = interpret(query.plan, state)
    return decoded(list(bag), list(bag.values()), query.schema, engine)


@pytest.fixture(scope="module")
def history() -> tuple[Engine, dict[str, PlannedQuery], list[dict[str, Bag]]]:
    """An engine that has seen the epochs with all views in place, the views, and the tables at each epoch."""
    engine = Engine()
    for name, schema in SCHEMAS.items():
        engine.create_source(name, schema, KEYS.get(name))
    views = {f"v{i}": planned(sql) for i, sql in enumerate(QUERIES)}
    for name, query in views.items():
        engine.create_view(name, query.plan)
    states: list[dict[str, Bag]] = []
    state: dict[str, Bag] = {name: Counter() for name in SCHEMAS}
    for epoch, changes in enumerate(halves(), 1):
        deltas = {name: delta(changes[name], schema, engine, epoch) for name, schema in SCHEMAS.items()}
        stage = engine.stage(deltas, epoch + 1)
        assert not stage.failed
        stage.publish()
        state = {name: Counter(bag) for name, bag in state.items()}
        for name, bag in changes.items():
            state[name].update(bag)
            state[name] = +state[name]
        states.append(state)
    return engine, views, states


@pytest.mark.parametrize("epoch", [1, 2, 3])
@pytest.mark.parametrize("view", [f"v{i}" for i in range(len(QUERIES))])
def test_views_hold_what_the_oracle_gives(
    history: tuple[Engine, dict[str, PlannedQuery], list[dict[str, Bag]]], view: str, epoch: int
) -> None:
    engine, views, states = history
    words, counts = engine.snapshot.rows(view, epoch)
    schema = engine.snapshot.schema(view)
    held: Bag = Counter(
        dict(zip(decode_rows(words, schema, engine.dictionary), counts.tolist(), strict=True))
    )
    wanted = expected(views[view], states[epoch - 1], engine)
    assert engine.snapshot.errors(view, epoch) == []
    assert same_bag(held, wanted), QUERIES[int(view[1:])]
