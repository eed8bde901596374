"""Sums of floats of every size, with rows that come and go: exact, whatever the order and the batches.

DuckDB adds in some order, so the referee here is the exact sum of fractions, rounded once.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from engine.codec.json import encode_rows
from engine.kernels.floats import floats_of
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import DOUBLE, INTEGER, REAL, Column, Schema, Type
from planner import Relation, plan_query
from tests.seeds import each_seed

EPOCHS = 6
SIZES = (0.1, 1.0, 3e-308, 5e-324, 1e-30, 1e16, 1e300, -1e300, -0.1, -1e16, 0.0)
SPECIALS = (math.nan, math.inf, -math.inf)
Rows = list[tuple[int, float]]


def _expected(values: list[float]) -> float:
    if any(map(math.isnan, values)) or {math.inf, -math.inf} <= set(values):
        return math.nan
    infinite = [value for value in values if math.isinf(value)]
    return infinite[0] if infinite else float(sum(map(Fraction, values), Fraction(0)))


def _histories(rng: random.Random, kind: Type) -> list[tuple[Rows, Rows]]:
    """What is inserted and deleted in each epoch."""
    held: Rows = []
    epochs = []
    for _ in range(EPOCHS):
        gone = [held.pop(rng.randrange(len(held))) for _ in range(rng.randint(0, len(held)))]
        new = [(rng.randint(0, 2), _value(rng, kind)) for _ in range(rng.randint(0, 6))]
        held += new
        epochs.append((new, gone))
    return epochs


def _value(rng: random.Random, kind: Type) -> float:
    if rng.random() < 0.08:
        return rng.choice(SPECIALS)
    value = rng.choice(SIZES) * rng.choice((1.0, 1.0, rng.random()))
    if kind == REAL:
        return float(np.float32(value)) if abs(value) < 1e30 else float(np.float32(1e30))
    return value


@pytest.mark.parametrize("kind", (DOUBLE, REAL), ids=str)
@each_seed(20)
def test_float_sums_are_exact(seed: int, kind: Type) -> None:
    rng = random.Random(seed)
    schema = Schema((Column("g", INTEGER, False), Column("x", kind, False)))
    catalog = {"t": Relation("t", schema, Source("t", schema))}
    plan = plan_query("SELECT g, sum(CAST(x AS double precision)) AS s FROM t GROUP BY g", catalog).plan
    history = _histories(rng, kind)
    for together in (1, 2, EPOCHS):
        engine = Engine()
        engine.create_source("t", schema)
        engine.create_view("v", plan)
        for first in range(1, EPOCHS + 1, together):
            _advance(engine, schema, first, history[first - 1 : first - 1 + together])
        held: Rows = []
        for number, (new, gone) in enumerate(history, 1):
            held += new
            for row in gone:
                held.pop(next(i for i, each in enumerate(held) if each is row))
            words, _ = engine.snapshot.rows("v", number)
            got = dict(zip(words[0].tolist(), floats_of(words[1]).tolist(), strict=True))
            expected = {g: _expected([x for h, x in held if h == g]) for g, _ in held}
            assert got == pytest.approx(expected, rel=0, abs=0, nan_ok=True), (number, together)


def _advance(engine: Engine, schema: Schema, first: int, epochs: list[tuple[Rows, Rows]]) -> None:
    changes = [
        (number, row, diff)
        for number, (new, gone) in enumerate(epochs, first)
        for rows, diff in ((new, 1), (gone, -1))
        for row in rows
    ]
    words = encode_rows([row for _, row, _ in changes], schema, engine.dictionary)
    tail = np.array([[n for n, _, _ in changes], [d for _, _, d in changes]], np.int64).reshape(2, -1)
    engine.stage({"t": np.ascontiguousarray(np.concatenate([words, tail]))}, first + len(epochs)).publish()
