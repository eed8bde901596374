"""Random expressions over random rows, evaluated by Program and by DuckDB as SQL: values and failures agree.

The SQL spells out what differs by design: AND and OR are decided by one operand whatever
the other does, BIGINT has no -2**63 and floats no -0. DuckDB runs without its optimizer,
which hides failures; a constant NULL hides those of the other operand there, and so no
constant is NULL.
"""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import schema as s
from engine.codec.arrow import decode_arrow, encode_arrow
from engine.codec.json import encode_rows
from engine.kernels.words import NULL
from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, Literal, Op, columns_of
from engine.scalar.program import ScalarProgram
from engine.schema import Column, Kind, Schema, Type, numeric
from engine.state.dictionary import Dictionary
from tests.seeds import few

MONEY, WHOLE, LONG, SHARE = numeric(7, 2), numeric(9, 0), numeric(17, 4), numeric(4, 4)
TYPES = [
    s.BOOLEAN,
    s.SMALLINT,
    s.INTEGER,
    s.BIGINT,
    MONEY,
    WHOLE,
    LONG,
    SHARE,
    s.REAL,
    s.DOUBLE,
    s.TEXT,
    s.DATE,
]
TYPES.append(s.TIMESTAMP)
SCHEMA = Schema(tuple(Column(f"c{i}", type) for i, type in enumerate(TYPES)))
DUCKDB = {Kind.TEXT: "VARCHAR", Kind.DOUBLE: "DOUBLE", Kind.REAL: "FLOAT"}


def integers(bits: int) -> st.SearchStrategy[int]:
    top = 2 ** (bits - 1) - 1
    edges = [0, 1, -1, 2, 7, top, top - 1, -top, -top - 1 if bits < 64 else -top, 2**24 + 1, 10**9]
    return st.sampled_from([e for e in edges if -top - 1 <= e <= top]) | st.integers(-top, top)


def decimals(type: Type) -> st.SearchStrategy[Decimal]:
    top = 10**type.precision - 1
    words = st.sampled_from([0, 1, -1, 5, 50, -50, 49, 51, 150, 250, 2**24 + 1, top, -top, top // 2])
    return (words.filter(lambda w: abs(w) <= top) | st.integers(-top, top)).map(
        lambda w: Decimal(w).scaleb(-type.scale)
    )


EDGES = """0 1 -1 0.5 1.5 2.5 -2.5 0.1 0.125 1e-5 1e15 1e16 123456.789 999.995 5e-324 1e300 -1e300 inf -inf
nan 2147483648 2147483647.5 -2147483648.5 9223372036854775808 -9223372036854775808 3.4028235677973366e38"""
FLOATS = st.sampled_from([float(edge) for edge in EDGES.split()])
WORDS = """a A ab é z 🐍 1 -7 1.5 2.5 1e3 99999.995 true f NaN -inf 2024-02-29 2024-02-30 infinity
9223372036854775807"""
TEXTS = st.sampled_from([*WORDS.split(), "", "  12 ", "2024-02-29 12:30:00.5"])
VALUES: dict[Type, st.SearchStrategy] = {
    s.BOOLEAN: st.booleans(),
    s.SMALLINT: integers(16),
    s.INTEGER: integers(32),
    s.BIGINT: integers(64),
    s.REAL: FLOATS.filter(lambda x: not 3.4e38 < abs(x) < math.inf).map(lambda x: float(np.float32(x))),
    s.DOUBLE: FLOATS | st.floats(-1e6, 1e6),
    s.TEXT: TEXTS,
    s.DATE: st.sampled_from(["infinity", "-infinity", "+300000-01-01", date(1, 1, 1), date(1969, 12, 31)])
    | st.dates(),
    s.TIMESTAMP: st.sampled_from(["infinity", "-infinity", datetime(1969, 12, 31, 23, 59, 59)])
    | st.datetimes(),
    **{type: decimals(type) for type in (MONEY, WHOLE, LONG, SHARE)},
}
ROWS = st.lists(st.tuples(*(st.none() | VALUES[type] for type in TYPES)), min_size=1, max_size=12)


def castable(source: Type, target: Type) -> bool:
    if Kind.TEXT in (source.kind, target.kind):
        return source != target
    moments = {Kind.DATE, Kind.TIMESTAMP}
    if source.kind in moments or target.kind in moments:
        return {source.kind, target.kind} == moments
    # DuckDB has true as 0.0001 where it does not fit; ours is a failure.
    return not (source.kind is Kind.BOOLEAN and target == SHARE)


@st.composite
def expressions(draw, type: Type, depth: int = 3) -> Expression:
    """An expression of a type; leaves are columns of it, or literals."""
    forms = ["leaf"] if depth == 0 else ["leaf", "cast", "choice", "choice", "own", "own", "own", "own"]
    form = draw(st.sampled_from(forms))
    if form == "cast":
        source = draw(st.sampled_from([t for t in TYPES if castable(t, type)]))
        # DuckDB writes a computed NaN with its sign, of which our words have none.
        is_nan_signed = source.is_float and type == s.TEXT
        arg = draw(expressions(source, 0 if is_nan_signed else depth - 1))
        return Cast(arg, type, lenient=bool(columns_of(arg)) and draw(st.booleans()))
    if form == "choice":
        return draw(choices(type, depth - 1))
    if form == "own" and type == s.BOOLEAN:
        return draw(truths(depth - 1))
    if form == "own" and type.is_numeric and type not in (LONG, SHARE):
        return draw(sums(type, depth - 1))
    if form == "own" and type == s.TEXT:
        return Foreign(
            "{0} || lower({1})", (draw(expressions(type, depth - 1)), draw(expressions(type, 0))), type
        )
    if draw(st.integers(0, 3)):
        return ColumnRef(TYPES.index(type), type)
    return Literal(draw(VALUES[type]), type)


@st.composite
def choices(draw, type: Type, depth: int) -> Expression:
    op = draw(st.sampled_from([Op.COALESCE, Op.GREATEST, Op.LEAST, None]))
    parts = tuple(draw(expressions(type, depth)) for _ in range(draw(st.integers(2, 3))))
    if op is None:
        *values, last = parts
        return Case(tuple((draw(expressions(s.BOOLEAN, depth)), value) for value in values), last, type)
    return Call(op, parts, type)


@st.composite
def truths(draw, depth: int) -> Expression:
    op = draw(
        st.sampled_from([Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE, Op.DISTINCT, Op.NOT_DISTINCT] + [None] * 8)
    )
    if op is not None:
        type = draw(st.sampled_from(TYPES))
        return Call(op, (draw(expressions(type, depth)), draw(expressions(type, depth))), s.BOOLEAN)
    op = draw(st.sampled_from([Op.AND, Op.OR, Op.NOT, Op.IS_NULL]))
    count = 1 if op in (Op.NOT, Op.IS_NULL) else 2
    type = draw(st.sampled_from(TYPES)) if op is Op.IS_NULL else s.BOOLEAN
    return Call(op, tuple(draw(expressions(type, depth)) for _ in range(count)), s.BOOLEAN)


@st.composite
def sums(draw, type: Type, depth: int) -> Expression:
    """Arithmetic, typed as DuckDB types it; cast back where that is another type."""
    ops = [Op.ADD, Op.SUB, Op.MUL, Op.MOD, Op.NEG, Op.ABS]
    ops += [Op.DIV] if type.is_float else [Op.INTDIV] if type.is_integer else []
    op = draw(st.sampled_from(ops))
    args = tuple(draw(expressions(type, depth)) for _ in range(1 if op in (Op.NEG, Op.ABS) else 2))
    if type.kind is not Kind.NUMERIC or op in (Op.MOD, Op.NEG, Op.ABS):
        return Call(op, args, type)
    digits, scale = type.precision, type.scale
    wide = numeric(2 * digits, 2 * scale) if op is Op.MUL else numeric(digits + 1, scale)
    return Cast(Call(op, args, wide), type)


def sql(e: Expression) -> str:
    match e:
        case ColumnRef(index=index):
            return f"c{index}"
        case Literal(value=value, type=type):
            return bounded(f"CAST({quoted(value)} AS {name(type)})", type)
        case Cast(arg=arg, type=type, lenient=lenient):
            return bounded(f"{'TRY_CAST' if lenient else 'CAST'}({sql(arg)} AS {name(type)})", type, lenient)
        case Case(branches=branches, otherwise=otherwise):
            whens = " ".join(f"WHEN {sql(condition)} THEN {sql(value)}" for condition, value in branches)
            return f"CASE {whens} ELSE {sql(otherwise)} END"
        case Foreign(template=template, args=args):
            return f"({template.format(*map(sql, args))})"
        case Call(op=op, args=args, type=type):
            return bounded(called(op, [sql(arg) for arg in args], type), type)
    raise AssertionError(e)


def called(op: Op, args: list[str], type: Type) -> str:
    if op in (Op.AND, Op.OR):
        decisive = str(op is Op.OR)
        tries = " OR ".join(f"coalesce(TRY({arg}) = {decisive}, false)" for arg in args)
        return f"(CASE WHEN {tries} THEN {decisive} ELSE ({args[0]}) {op.value} ({args[1]}) END)"
    if op is Op.NOT:
        return f"(NOT ({args[0]}))"
    if op is Op.NEG:
        return (
            f"CAST(CAST(0 AS {name(type)}) - ({args[0]}) AS {name(type)})"  # DuckDB binds -constant otherwise
        )
    if op is Op.IS_NULL:
        return f"(({args[0]}) IS NULL)"
    if op in (Op.ABS, Op.COALESCE, Op.GREATEST, Op.LEAST):
        return f"{op.value}({', '.join(args)})"
    return f"(({args[0]}) {op.value} ({args[1]}))"


def bounded(text: str, type: Type, lenient: bool = False) -> str:
    """A BIGINT that fails, or is NULL, for -2**63; a float that is 0 and not -0."""
    if type.is_float:
        return f"({text} + 0)"
    if type != s.BIGINT:
        return text
    return f"nullif({text}, {NULL})" if lenient else f"({text} - 1 + 1)"


def quoted(value: object) -> str:
    text = {math.inf: "inf", -math.inf: "-inf"}.get(value, value) if isinstance(value, float) else value
    return f"'{str(text).removeprefix('+')}'"


def name(type: Type) -> str:
    text = DUCKDB.get(type.kind, type.kind.value)
    return f"DECIMAL({type.precision}, {type.scale})" if type.kind is Kind.NUMERIC else text


@pytest.fixture(scope="module")
def referee():
    with duckdb.connect() as connection:
        connection.execute("PRAGMA disable_optimizer").fetchall()
        yield connection


def answer(referee, expression: Expression, table: pa.Table, dictionary: Dictionary):
    """DuckDB's words, and bool[n]: the rows that fail."""
    lists = (
        referee.sql(f"SELECT TRY([{sql(expression)}]) FROM rows").to_arrow_table().column(0).combine_chunks()
    )
    failed = lists.is_null().to_numpy(zero_copy_only=False)
    words = np.full(len(lists), NULL)
    schema = Schema((Column("x", expression.type),))
    words[~failed] = encode_arrow(pa.table([lists.flatten()], names=["x"]), schema, dictionary)[0]
    return words, failed


@pytest.mark.parametrize("type", TYPES, ids=str)
@settings(max_examples=few(200), deadline=None)
@given(data=st.data(), rows=ROWS)
def test_values_and_failures_are_duckdbs(referee, type, data, rows):
    dictionary = Dictionary()
    expression = data.draw(expressions(type))
    words = encode_rows(rows, SCHEMA, dictionary)
    table = decode_arrow(words, SCHEMA, dictionary)
    referee.register("rows", table)
    expected, should_fail = answer(referee, expression, table, dictionary)
    results, failures = ScalarProgram((expression,), dictionary)(words)
    failed = np.zeros(len(rows), bool)
    if failures is not None:
        failed[failures.rows] = True
        assert all(failures.messages)
    assert failed.tolist() == should_fail.tolist(), sql(expression)
    assert results[0][~failed].tolist() == expected[~failed].tolist(), sql(expression)
