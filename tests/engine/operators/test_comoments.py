"""Comoments of numbers and of floats of every size, with rows that come and go: exact, and rounded once."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from engine.codec.json import encode_rows
from engine.codec.values import word_float
from engine.errors import PlanError
from engine.kernels.words import NULL
from engine.plan.nodes import AggregateSpec, Function, Reduce, Source
from engine.runtime.engine import Engine
from engine.schema import BIGINT, DOUBLE, Column, Schema, Type
from engine.state.packed_times import Frontier, Order
from tests.seeds import each_seed, few

SIZES = (0.1, 1.0, 5e-324, 1e-30, 1e16, 1e150, -0.1, -1e16, 1e-160, 0.0)
WHOLE = (0, 1, -3, 2**40, 2**63 - 1, -(2**63) + 1, 10**9)
EPOCHS = 5
Row = tuple[int, object, object]


def _value(rng: random.Random, kind: Type) -> object:
    if rng.random() < 0.1:
        return None
    if kind == BIGINT:
        return rng.choice(WHOLE) if rng.random() < 0.6 else rng.randint(0, 9)
    if rng.random() < 0.03:
        return rng.choice((math.nan, math.inf, -math.inf))
    return rng.choice(SIZES) * rng.choice((1.0, rng.random()))


def _expected(pairs: list[tuple[object, object]]) -> float | None:
    known = [(x, y) for x, y in pairs if x is not None and y is not None]
    if not known:
        return None
    if not all(math.isfinite(value) for pair in known for value in pair):  # type: ignore[arg-type]
        return math.nan
    exact = [(Fraction(x), Fraction(y)) for x, y in known]  # type: ignore[call-overload]
    products = sum(x * y for x, y in exact) * len(exact)
    return float(products - sum(x for x, _ in exact) * sum(y for _, y in exact))


@pytest.mark.parametrize("kind", [BIGINT, DOUBLE], ids=str)
@pytest.mark.parametrize("order", [Order(), Order(("version", "epoch"))], ids=["epochs", "times"])
@each_seed(few(6))
def test_comoments_are_exact(seed: int, kind: Type, order: Order) -> None:
    rng = random.Random(f"comoments {seed}")
    schema = Schema((Column("g", BIGINT, False), Column("x", kind), Column("y", kind)))
    source = Source("s", schema)
    comoments = tuple(AggregateSpec(Function.COMOMENT, 1, DOUBLE, str(y), y) for y in (1, 2))
    engine = Engine(order=order, first=0)
    engine.create_source("s", schema)
    engine.create_view("v", Reduce(source, (0,), comoments))
    held: Counter[Row] = Counter()
    for epoch in range(EPOCHS):
        gone = [row for row in held.elements() if rng.random() < 0.3]
        new = [(rng.randrange(2), _value(rng, kind), _value(rng, kind)) for _ in range(rng.randint(0, 6))]
        time, upper = (n if order.is_total else order.pack((0, n)) for n in (epoch, epoch + 1))
        lines = [(row, time, -1) for row in gone] + [(row, time, 1) for row in new]
        held.subtract(gone)
        held.update(new)
        words = encode_rows([row for row, _, _ in lines], schema, engine.dictionary)
        tail = np.array([[at for _, at, _ in lines], [n for _, _, n in lines]], np.int64).reshape(2, -1)
        delta = np.ascontiguousarray(np.vstack((words, tail)))
        stage = engine.stage({"s": delta}, Frontier(order, (upper,)))
        assert not stage.failed
        stage.publish()
        rows, _ = engine.snapshot.rows("v", time)
        found = {g: [None if w == NULL else word_float(w) for w in line] for g, *line in rows.T.tolist()}
        for g in {row[0] for row in held.elements()}:
            members = [row for row in held.elements() if row[0] == g]
            expected = [_expected([(row[1], row[c]) for row in members]) for c in (1, 2)]
            assert str(found.pop(g)) == str([e if e is None else e + 0.0 for e in expected]), (epoch, members)
        assert not found


def test_numbers_and_floats_do_not_mix() -> None:
    source = Source("s", Schema((Column("x", BIGINT), Column("y", DOUBLE))))
    with pytest.raises(PlanError, match="two floats or two numbers"):
        Reduce(source, (), (AggregateSpec(Function.COMOMENT, 0, DOUBLE, "", 1),))
