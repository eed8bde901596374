from __future__ import annotations

import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.errors import InvalidValue, PlanError
from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, Literal, Op
from engine.scalar.program import ScalarProgram
from engine.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    Column,
    Schema,
    Type,
    numeric,
)
from engine.state.dictionary import Dictionary
from tests.seeds import SEED

A, B = ColumnRef(0, BIGINT), ColumnRef(1, BIGINT)
NAME = ColumnRef(2, TEXT)
SCHEMA = Schema((Column("a", BIGINT), Column("b", BIGINT), Column("name", TEXT)))
TOP = 2**63 - 1


def number(value: int | None) -> Literal:
    return Literal(value, BIGINT)


def add(left: Expression, right: Expression) -> Call:
    return Call(Op.ADD, (left, right), BIGINT)


def quotient(left: Expression, right: Expression) -> Call:
    return Call(Op.INTDIV, (left, right), BIGINT)


def is_(op: Op, *args: Expression) -> Call:
    return Call(op, args, BOOLEAN)


def run(expressions: tuple[Expression, ...], rows: list[tuple], schema: Schema = SCHEMA):
    """The decoded results and the failures as a dict from row to message."""
    dictionary = Dictionary()
    program = ScalarProgram(expressions, dictionary)
    words, failures = program(encode_rows(rows, schema, dictionary))
    assert words.shape == (len(expressions), len(rows))
    output = Schema(tuple(Column("", e.type) for e in expressions))
    failed = dict(zip(failures.rows.tolist(), failures.messages, strict=True)) if failures else {}
    assert list(failed) == sorted(failed)
    return decode_rows(words, output, dictionary), failed


def test_columns_are_passed_on():
    words = np.arange(12, dtype=np.int64).reshape(3, 4)
    for expressions in ((A, B), (B, A), (B,), (A, A)):
        results, failures = ScalarProgram(expressions, Dictionary())(words)
        assert failures is None
        assert (results == words[[e.index for e in expressions]]).all()


def test_rows_in_sequence_are_not_copied():
    words = np.arange(12, dtype=np.int64).reshape(3, 4)
    assert np.shares_memory(ScalarProgram((A, B), Dictionary())(words)[0], words)


def test_no_expressions_have_no_words():
    words, failures = ScalarProgram((), Dictionary())(np.zeros((2, 5), np.int64))
    assert words.shape == (0, 5)
    assert failures is None


@pytest.mark.parametrize("count", [0, 1, 20])
def test_constants_fill_the_batch(count):
    results, failed = run((number(5), Literal("x", TEXT), Literal(None, DATE)), [(1, 2, "n")] * count)
    assert results == [(5, "x", None)] * count
    assert not failed


def test_an_overflow_fails_its_row_alone():
    results, failed = run((add(A, B),), [(1, 2, None), (TOP, 1, None), (-TOP, -1, None), (None, TOP, None)])
    assert results[0] == (3,)
    assert results[3] == (None,)
    assert failed == {
        1: f"BIGINT overflow: {TOP} + 1",
        2: f"BIGINT overflow: -{TOP} + -1",
    }


@pytest.mark.parametrize(("type", "bits"), [(SMALLINT, 16), (INTEGER, 32)])
def test_the_remainder_of_the_least_number_by_minus_one_is_zero(type: Type, bits: int) -> None:
    """As in DuckDB and PostgreSQL, though the quotient is too large."""
    columns = Schema((Column("a", type), Column("b", type)))
    a, b, least = ColumnRef(0, type), ColumnRef(1, type), -(2 ** (bits - 1))
    results, failed = run((Call(Op.MOD, (a, b), type),), [(least, -1), (7, -2), (least, 0)], columns)
    assert results[:2] == [(0,), (1,)]
    assert failed == {2: f"division by zero: {least} % 0"}
    _, failed = run((Call(Op.INTDIV, (a, b), type),), [(least, -1)], columns)
    assert failed == {0: f"{type} overflow: {least} // -1"}


def test_the_first_expression_that_fails_says_why():
    _, failed = run((quotient(A, B), add(A, A)), [(TOP, 0, None), (TOP, 1, None)])
    assert failed == {0: f"division by zero: {TOP} // 0", 1: f"BIGINT overflow: {TOP} + {TOP}"}


def test_constants_that_fail_fail_where_they_are_needed():
    failing = quotient(number(1), number(0))
    _, failed = run((failing,), [(1, 1, None)] * 2)
    assert failed == {0: "division by zero: 1 // 0", 1: "division by zero: 1 // 0"}
    case = Case(((is_(Op.EQ, A, number(1)), failing),), B, BIGINT)
    results, failed = run((case,), [(1, 7, None), (2, 7, None)])
    assert list(failed) == [0]
    assert results[1] == (7,)
    _, failed = run((failing,), [])
    assert not failed


@pytest.mark.parametrize("op", [Op.AND, Op.OR])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("costly", [False, True])
def test_what_decides_alone_hides_failures_on_either_side(op, swapped, costly):
    failing = Cast(NAME, BIGINT) if costly else quotient(number(4), B)
    guard = is_(Op.EQ, A, number(1))
    sides = (is_(Op.EQ, failing, number(2)), guard)
    rows = [(1, 0, "x"), (2, 0, "x"), (None, 0, "x"), (1, 2, "2"), (2, 2, "2"), (None, 2, "2"), (1, 1, "1")]
    results, failed = run((Call(op, sides[::-1] if swapped else sides, BOOLEAN),), rows)
    undecided = {Op.AND: {0, 2}, Op.OR: {1, 2}}[op]
    assert set(failed) == undecided
    expected = {
        Op.AND: [None, False, None, True, False, None, False],
        Op.OR: [True, None, None, True, True, True, True],
    }[op]
    assert [r[0] for i, r in enumerate(results) if i not in failed] == [
        e for i, e in enumerate(expected) if i not in failed
    ]


def test_what_failed_decides_nothing():
    unsure = Call(Op.IS_NULL, (quotient(number(4), B),), BOOLEAN)
    sides = (unsure, is_(Op.EQ, A, number(1)))
    for operands in (sides, sides[::-1]):
        results, failed = run(
            (Call(Op.OR, operands, BOOLEAN),), [(2, 0, None), (1, 0, None), (2, None, None)]
        )
        assert set(failed) == {0}
        assert results[1:] == [(True,), (True,)]


@pytest.mark.parametrize("costly", [False, True])
def test_a_branch_that_is_not_taken_does_not_fail(costly):
    failing = Cast(NAME, BIGINT) if costly else quotient(number(4), B)
    case = Case(
        ((is_(Op.EQ, A, number(1)), number(10)), (is_(Op.EQ, failing, number(2)), failing)), add(A, A), BIGINT
    )
    rows = [(1, 0, "x"), (2, 0, "x"), (2, 2, "2"), (3, 1, "1"), (TOP, 1, "1"), (None, 2, "2"), (None, 1, "1")]
    results, failed = run((case,), rows)
    assert set(failed) == {1, 4}
    assert [r[0] for i, r in enumerate(results) if i not in failed] == [10, 2, 6, 2, None]


@pytest.mark.parametrize("costly", [False, True])
def test_coalesce_looks_no_further_than_it_must(costly):
    failing = Cast(NAME, BIGINT) if costly else quotient(number(4), B)
    rows = [(1, 0, "x"), (None, 0, "x"), (None, 2, "2"), (None, None, None)]
    results, failed = run((Call(Op.COALESCE, (A, failing, number(9)), BIGINT),), rows)
    assert set(failed) == {1}
    assert (results[0], results[2], results[3]) == ((1,), (2,), (9,))


def test_chains_may_be_thousands_long():
    chain: Expression = is_(Op.EQ, A, number(0))
    for i in range(1, 5_000):
        chain = is_(Op.OR, chain, is_(Op.EQ, A, number(i)))
    results, _ = run((chain,), [(4_999, 0, None), (5_000, 0, None), (None, 0, None)])
    assert results == [(True,), (False,), (None,)]


@pytest.mark.parametrize("nullable", [False, True])
def test_lists_of_constants_are_tested_for_membership(nullable):
    members: tuple[Expression, ...] = (number(3), number(-1), number(3), number(TOP), A)
    if nullable:
        members += (number(None),)
    inside, outside = is_(Op.EQ, B, members[0]), is_(Op.NE, B, members[0])
    for candidate in members[1:]:
        inside = is_(Op.OR, inside, is_(Op.EQ, B, candidate))
        outside = is_(Op.AND, outside, is_(Op.NE, B, candidate))
    results, _ = run((inside, outside), [(9, b, None) for b in (3, -1, 2, TOP, None, 9)])
    missing = (None, None) if nullable else (False, True)
    found = (True, False)
    assert results == [found, found, missing, found, (None, None), found]


def test_texts_are_ordered_by_code_point():
    rows = [(0, 0, text) for text in ("", "a", "é", "🐍", None, "m")]
    operators = [Op.LT, Op.LE, Op.GT, Op.GE]
    results, _ = run(tuple(is_(op, NAME, Literal("m", TEXT)) for op in operators), rows)
    assert results == [
        (True, True, False, False),
        (True, True, False, False),
        (False, False, True, True),
        (False, False, True, True),
        (None, None, None, None),
        (False, True, False, True),
    ]


def test_greatest_and_least_skip_nulls():
    """Of texts by their code points, of which a hash says nothing."""
    known = [None, "", "a", "é", "🐍"]
    schema = Schema((Column("x", TEXT), Column("y", TEXT), Column("z", TEXT)))
    columns = tuple(ColumnRef(i, TEXT) for i in range(3))
    rows = [(x, y, z) for x in known for y in known for z in (None, "a", "🐍")]
    results, _ = run((Call(Op.GREATEST, columns, TEXT), Call(Op.LEAST, columns, TEXT)), rows, schema)
    there = [[text for text in row if text is not None] for row in rows]
    assert results == [(max(texts, default=None), min(texts, default=None)) for texts in there]


def test_casts_of_numbers_keep_their_scale():
    """What a decimal's word is depends on its scale."""
    money, cents, whole = numeric(7, 2), numeric(9, 3), numeric(9, 0)
    schema = Schema((Column("i", INTEGER), Column("m", money), Column("f", DOUBLE)))
    i, m, f = ColumnRef(0, INTEGER), ColumnRef(1, money), ColumnRef(2, DOUBLE)
    expressions = (
        Cast(i, money, False),
        Cast(m, cents, False),
        Cast(m, whole, False),
        Cast(m, DOUBLE, False),
        Cast(m, INTEGER, False),
        Cast(f, money, False),
    )
    results, failed = run(expressions, [(7, "1.25", 2.5), (-3, "-2.50", -0.125), (None, None, None)], schema)
    assert not failed
    assert results == [
        ("7.00", "1.250", "1", 1.25, 1, "2.50"),
        ("-3.00", "-2.500", "-3", -2.5, -3, "-0.13"),
        (None,) * 6,
    ]


def test_large_batches_are_as_small_ones():
    dictionary = Dictionary()
    rng = np.random.default_rng(SEED)
    words = rng.integers(-3, 4, (2, 200_001))
    program = ScalarProgram((quotient(A, B), add(A, B)), dictionary)
    results, failures = program(words)
    assert (results[1] == words[0] + words[1]).all()
    assert failures is not None
    assert (failures.rows == np.flatnonzero(words[1] == 0)).all()
    assert failures.messages[-1] == f"division by zero: {words[0, failures.rows[-1]]} // 0"


def test_foreign_expressions_are_duckdbs():
    shout = Foreign("upper({0}) || repeat('!{x}', {1})", (NAME, B), TEXT)
    rows = [(1, 2, "hé"), (1, 2, "hé"), (1, None, "x"), (1, 0, "it's")]
    expected = [("HÉ!{x}!{x}",), ("HÉ!{x}!{x}",), (None,), ("IT'S",)]
    assert run((shout,), rows) == (expected, {})
    assert run((shout,), rows * 30) == (expected * 30, {})


def test_foreign_constants_are_no_places():
    results, _ = run((Foreign("{0} || {1}", (Literal("{1}'", TEXT), NAME), TEXT),), [(1, 1, "{0}")])
    assert results == [("{1}'{0}",)]


@pytest.mark.parametrize("copies", [1, 30])
def test_foreign_failures_are_the_same_in_any_batch(copies):
    failing = Foreign("CAST({0} AS INTEGER) + {1}", (NAME, Literal(1, INTEGER)), INTEGER)
    results, failed = run(
        (failing,), [(1, 1, "5"), (1, 1, "x"), (1, 1, None), (1, 1, str(2**31 - 1))] * copies
    )
    assert set(failed) == {i for i in range(4 * copies) if i % 4 in (1, 3)}
    assert failed[1] == "CAST('x' AS INTEGER) + 1: Could not convert string 'x' to INT32"
    assert failed[3] == "CAST('2147483647' AS INTEGER) + 1: Overflow in addition of INT32 (2147483647 + 1)"
    assert failed[4 * copies - 1] == failed[3]
    assert [results[0], results[2]] == [(6,), (None,)]


@pytest.mark.parametrize("copies", [1, 30])
def test_foreign_results_beyond_words(copies):
    schema = Schema((Column("a", numeric(18, 0)),))
    wide = Foreign("{0}::DECIMAL(38, 0) * 10", (ColumnRef(0, numeric(18, 0)),), numeric(20, 0))
    results, failed = run((wide,), [(i,) for i in range(copies)] + [(10**17,)], schema)
    assert results[copies - 1 :] == [(str(10 * (copies - 1)),), (str(10**18),)]
    assert not failed
    least = Foreign("-{0} - 1", (A,), BIGINT)
    _, failed = run((least,), [(i, 0, None) for i in range(copies)] + [(TOP, 0, None)])
    assert list(failed) == [copies]


@pytest.mark.parametrize("copies", [1, 30])
def test_moments_beyond_python_are_exact(copies):
    schema = Schema((Column("d", DATE), Column("t", TIMESTAMP)))
    later = Foreign("{0} + 1", (ColumnRef(0, DATE),), DATE)
    moved = Foreign("date_trunc('hour', {0})", (ColumnRef(1, TIMESTAMP),), TIMESTAMP)
    rows = [
        ("+12345-12-31", "+12345-12-31T01:30:00"),
        ("-0044-03-14", "-0044-03-14T01:30:00"),
        ("infinity", "-infinity"),
        ("9999-12-31", "0001-01-01T00:00:00"),
    ]
    expected = [
        ("+12346-01-01", "+12345-12-31T01:00:00"),
        ("-0044-03-15", "-0044-03-14T01:00:00"),
        ("infinity", "-infinity"),
        ("+10000-01-01", "0001-01-01T00:00:00"),
    ]
    assert run((later, moved), rows * copies, schema) == (expected * copies, {})


def test_texts_with_nul_reach_duckdb():
    results, failed = run((Foreign("length({0})", (NAME,), BIGINT), Cast(NAME, INTEGER)), [(1, 1, "a\0b")])
    assert results[0][0] == 3
    assert "is not a valid INTEGER" in failed[0]


def test_lenient_casts_are_null_where_they_fail():
    casts = (Cast(NAME, INTEGER, lenient=True), Cast(A, SMALLINT, lenient=True))
    assert run(casts, [(5, 0, "5"), (70_000, 0, "x")]) == ([(5, 5), (None, None)], {})


def test_casts_say_what_does_not_fit():
    money = numeric(5, 2)
    schema = Schema((Column("t", TEXT), Column("x", DOUBLE), Column("m", money)))
    text, real, cash = (ColumnRef(i, t) for i, t in enumerate(schema.types))
    row = [("it's", 1e300, "123.45")]
    for expression, message in [
        (Cast(text, DATE), "'it''s' is not a valid DATE"),
        (Cast(Literal("it's", TEXT), DATE), "'it''s' is not a valid DATE"),
        (Cast(real, REAL), "1e+300 is not a valid REAL: out of range"),
        (Cast(cash, numeric(3, 1)), "123.45 is not a valid NUMERIC(3, 1): out of range"),
    ]:
        assert run((expression,), row, schema)[1] == {0: message}


@pytest.mark.parametrize(
    "expression",
    [
        Call(Op.ADD, (A, NAME), BIGINT),
        Call(Op.ADD, (A, Cast(A, DOUBLE)), BIGINT),
        Call(Op.ADD, (NAME, NAME), TEXT),
        Call(Op.ADD, (A,), BIGINT),
        Call(Op.EQ, (A, NAME), BOOLEAN),
        Call(Op.NOT, (is_(Op.EQ, A, A),) * 2, BOOLEAN),
        Call(Op.COALESCE, (), BIGINT),
        Call(Op.COALESCE, (A, NAME), BIGINT),
        Call(Op.INTDIV, (Cast(A, DOUBLE),) * 2, DOUBLE),
        Call(Op.MUL, (Cast(A, numeric(5, 2)),) * 2, numeric(10, 2)),
        Call(Op.EQ, (Cast(A, numeric(5, 2)), Cast(A, numeric(5, 3))), BOOLEAN),
        Case(((is_(Op.EQ, A, A), NAME),), A, BIGINT),
        Cast(A, DATE),
        Cast(Cast(NAME, DATE), BOOLEAN),
        Foreign("no_such_function({0})", (A,), BIGINT),
        Foreign("{0} +", (A,), BIGINT),
    ],
    ids=str,
)
def test_types_that_do_not_fit_are_refused(expression: Expression):
    with pytest.raises(PlanError):
        ScalarProgram((expression,), Dictionary())


def test_literals_must_fit_their_types():
    with pytest.raises(InvalidValue):
        ScalarProgram((Literal(70_000, SMALLINT),), Dictionary())


def test_programs_can_be_called_from_threads_and_more_than_once():
    type_: Type = TEXT
    dictionary = Dictionary()
    program = ScalarProgram((Foreign("reverse({0})", (ColumnRef(0, type_),), type_),), dictionary)
    for texts in (["abc", "x"], ["x", "xyz"] * 20, ["abc", None]):
        words, failures = program(
            encode_rows([(t,) for t in texts], Schema((Column("t", TEXT),)), dictionary)
        )
        assert failures is None
        assert dictionary.texts(words[0]) == [t and t[::-1] for t in texts]


@pytest.mark.parametrize("count", [1, 20])
def test_an_interval_that_is_too_long_fails_its_row(count: int) -> None:
    dictionary = Dictionary()
    schema = Schema((Column("i", INTERVAL), Column("n", INTEGER)))
    rows = [("PT2000000H", 2), ("PT2000000H", 1), (None, 1), ("P1M2D", -3)] * count
    double = Foreign("{0} * {1}", (ColumnRef(0, INTERVAL), ColumnRef(1, INTEGER)), INTERVAL)
    words, failures = ScalarProgram((double,), dictionary)(encode_rows(rows, schema, dictionary))
    assert failures is not None
    assert failures.rows.tolist() == list(range(0, 4 * count, 4))
    assert set(failures.messages) == {"'PT2000000H' * 2: interval is out of range"}
    kept = words[:, [1, 2, 3]]
    assert decode_rows(kept, Schema((Column("x", INTERVAL),)), dictionary) == [
        ("PT2000000H",),
        (None,),
        ("P-3M-6D",),
    ]
