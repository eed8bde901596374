"""Maps and filters in compiled steps give what Python's evaluators give, row by row, failed ones too."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import pytest

from engine.codec.values import encoder
from engine.kernels.words import NULL
from engine.operators import running_dataflow
from engine.operators.compiled_step import CompiledStep
from engine.plan.expressions import Call, Case, ColumnRef, Expression, Foreign, Literal, Op
from engine.plan.nodes import Filter, Map, Node, Source
from engine.runtime.engine import Engine
from engine.scalar import register_code
from engine.scalar.program import ScalarProgram
from engine.schema import BIGINT, BOOLEAN, DOUBLE, INTEGER, Column, Schema, Type, numeric
from engine.state.dictionary import Dictionary
from tests.engine.harness import delta, source
from tests.seeds import each_seed, few

WIDE = numeric(38, 0)
S = source("s", 4)
COLUMNS: tuple[Type, ...] = (BIGINT, INTEGER, DOUBLE, WIDE)
WORDS = (0, 1, 2, -1, 7, 2**31 - 1, 2**62, -(2**63) + 1, NULL)
NUMBERS = tuple(float(number) for number in (0, 1, -3, 10**300))
CHECKED = (Op.ADD, Op.SUB, Op.MUL, Op.INTDIV, Op.MOD)
COMPARED = (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE, Op.DISTINCT, Op.NOT_DISTINCT)


@dataclass
class Writer:
    """Writes random expressions."""

    rng: random.Random

    def value(self, type: Type, depth: int) -> Expression:
        """An expression of a type."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self._leaf(type)
        if type == BOOLEAN:
            return self.truth(depth)
        left, right = self.value(type, depth - 1), self.value(type, depth - 1)
        choice = rng.random()
        if choice < 0.15:
            otherwise = self.value(type, depth - 1)
            return Case(((self.truth(depth - 1), left), (self.truth(depth - 1), right)), otherwise, type)
        if choice < 0.3:
            op = rng.choice((Op.COALESCE, Op.GREATEST, Op.LEAST))
            return Call(op, (left, right, self.value(type, depth - 1)), type)
        if choice < 0.45:
            return Call(rng.choice((Op.NEG, Op.ABS)), (left,), type)
        if type == DOUBLE:
            return Call(rng.choice((Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MOD)), (left, right), type)
        return Call(rng.choice((Op.ADD, Op.SUB) if type == WIDE else CHECKED), (left, right), type)

    def truth(self, depth: int) -> Expression:
        """A condition."""
        rng = self.rng
        choice = rng.random()
        if depth > 0 and choice < 0.3:
            parts = tuple(self.truth(depth - 1) for _ in range(2))
            return Call(rng.choice((Op.AND, Op.OR)), parts, BOOLEAN)
        if depth > 0 and choice < 0.4:
            return Call(Op.NOT, (self.truth(depth - 1),), BOOLEAN)
        type = rng.choice(COLUMNS)
        one = self.value(type, max(depth - 1, 0))
        if choice < 0.5:
            return Call(Op.IS_NULL, (one,), BOOLEAN)
        return Call(rng.choice(COMPARED), (one, self.value(type, max(depth - 1, 0))), BOOLEAN)

    def _leaf(self, type: Type) -> Expression:
        if type == BOOLEAN:
            return Literal(self.rng.choice((True, False, None)), BOOLEAN)
        if self.rng.random() < 0.7:
            return ColumnRef(COLUMNS.index(type), type)
        if type == DOUBLE:
            return Literal(self.rng.choice(NUMBERS), type)
        return Literal(self.rng.choice((0, 1, -2, 1000, None)), type)


def schema_of(*types: Type) -> Schema:
    return Schema(tuple(Column(f"c{place}", type) for place, type in enumerate(types)))


def engine_of(plans: dict[str, Node], node: Source, dictionary: Dictionary) -> Engine:
    engine = Engine(dictionary=dictionary)
    engine.create_source("s", node.schema)
    for name, plan in plans.items():
        engine.create_view(name, plan)
    return engine


def rows_of(rng: random.Random, dictionary: Dictionary, count: int) -> list[tuple[int, ...]]:
    """Rows with NULLs, numbers at the bounds of their types, and wide ones."""
    wide = [encoder(WIDE)(number, dictionary) for number in (0, 3, -8, 10**18 - 1, 10**18, -(10**30), None)]
    small = [word for word in WORDS if abs(word) < 2**31 or word == NULL]
    floats = [encoder(DOUBLE)(number, dictionary) for number in (*NUMBERS, None)]
    return [
        (rng.choice(WORDS), rng.choice(small), rng.choice(floats), rng.choice(wide)) for _ in range(count)
    ]


@each_seed(few(6))
def test_rows_do_not_depend_on_who_computes_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    writer = Writer(rng)
    table, dictionary = Source("s", schema_of(*COLUMNS)), Dictionary()
    plans: dict[str, Node] = {}
    for number in range(4):
        types = rng.choices((*COLUMNS, BOOLEAN), k=2)
        values = tuple(writer.value(type, 3) for type in types)
        plans[f"map{number}"] = Map(table, values, schema_of(*types))
        plans[f"filter{number}"] = Filter(table, writer.truth(3))
    compiled, plain = (engine_of(plans, table, dictionary) for _ in range(2))
    held: list[tuple[int, ...]] = []
    for epoch in range(1, 40):
        new = rows_of(rng, dictionary, rng.choice((1, 2, 5)))
        gone = [held.pop(rng.randrange(len(held))) for _ in range(min(len(held), rng.choice((0, 1, 2))))]
        held += new
        change = {"s": delta(4, [*((row, epoch, 1) for row in new), *((row, epoch, -1) for row in gone)])}
        compiled.stage(change, epoch + 1).publish()
        with monkeypatch.context() as patch:
            patch.setattr(running_dataflow, "FEW", -1)
            plain.stage(change, epoch + 1).publish()
    for name in plans:
        assert compiled.snapshot.changes(name, 0, 39).tolist() == plain.snapshot.changes(name, 0, 39).tolist()
        for epoch in (1, 20, 39):
            assert compiled.snapshot.errors(name, epoch) == plain.snapshot.errors(name, epoch)


def turns_of_python(monkeypatch: pytest.MonkeyPatch, plan: Node, *rows: tuple[int, ...]) -> int:
    """How many operators of a view had turns of Python's when these rows came."""
    counter: Counter[str] = Counter()
    answer = CompiledStep._answer

    def counting(self: CompiledStep, place: int, *rest) -> None:  # type: ignore[no-untyped-def]
        counter["turns"] += 1
        answer(self, place, *rest)

    monkeypatch.setattr(CompiledStep, "_answer", counting)
    engine = engine_of({"v": plan}, S, Dictionary())
    engine.stage({"s": delta(4, [(row, 1, 1) for row in rows])}, 2).publish()
    return counter["turns"]


A, B = ColumnRef(0, BIGINT), ColumnRef(1, BIGINT)
SUM = Call(Op.ADD, (A, B), BIGINT)


def test_a_map_of_arithmetic_needs_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Map(S, (SUM, A), schema_of(BIGINT, BIGINT))
    assert turns_of_python(monkeypatch, plan, (1, 2, 3, 4), (5, 6, 7, 8)) == 0


def test_a_row_that_fails_is_pythons_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Filter(S, Call(Op.GT, (SUM, A), BOOLEAN))
    assert turns_of_python(monkeypatch, plan, (2**63 - 1, 1, 0, 0)) == 1


def test_what_duckdb_computes_is_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Map(S, (Foreign("{0} + 1", (A,), BIGINT),), schema_of(BIGINT))
    assert turns_of_python(monkeypatch, plan, (1, 2, 3, 4)) == 1


def test_a_long_program_is_pythons() -> None:
    expression: Expression = A
    for _ in range(register_code.MOST_LINES):
        expression = Call(Op.ADD, (expression, B), BIGINT)
    assert ScalarProgram((expression,), Dictionary()).registers is not None
    longer = Call(Op.ADD, (expression, B), BIGINT)
    assert ScalarProgram((longer,), Dictionary()).registers is None
