"""Casts between kinds, with DuckDB's semantics.

Floats become integers by rounding half to even, decimals by rounding half away from zero. A value that does
not fit fails its row or, with `lenient`, becomes NULL. DuckDB itself parses text, except for what `written`
rewrites, and writes all values but integers and truth values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from engine.codec.numerals import INFINITIES, are_special, special_of, word_of
from engine.errors import PlanError
from engine.kernels import casts as kernels
from engine.kernels import logic
from engine.kernels.words import NULL
from engine.scalar import wide_numbers as wide
from engine.scalar.calculation import bounds
from engine.scalar.duck_literals import sql_text, type_name
from engine.scalar.evaluator import Evaluator, by_kernel, constant, full
from engine.scalar.foreign import foreign
from engine.scalar.remembered import Memo
from engine.scalar.row_failures import Failure, Report
from engine.scalar.special_rows import Settle, named_rows
from engine.scalar.written import is_rewritten, readable
from engine.schema import INTEGER_RANGES, WORD_DIGITS, Kind, Type
from engine.state.dictionary import Dictionary

Convert = Callable[[np.ndarray, np.ndarray], int | None]
"""Converts words int64[n] or int64[1] into another int64[n]; returns how many rows failed, None if none
can."""

_BY_KERNELS = frozenset(
    {
        Kind.BOOLEAN,
        Kind.NUMERIC,
        Kind.REAL,
        Kind.DOUBLE,
        Kind.DATE,
        Kind.TIMESTAMP,
        Kind.TIMESTAMPTZ,
        *INTEGER_RANGES,
    }
)
_SAME_WORDS = frozenset(
    {
        (Kind.REAL, Kind.DOUBLE),
        (Kind.TIMESTAMP, Kind.TIMESTAMPTZ),
        (Kind.TIMESTAMPTZ, Kind.TIMESTAMP),
        (Kind.TIMESTAMPTZ, Kind.BIGINT),
        (Kind.BIGINT, Kind.TIMESTAMPTZ),
        (Kind.UUID, Kind.TEXT),
        (Kind.JSON, Kind.TEXT),
    }
)
_FEW = 16  # up to this many integers, one by one is faster than Arrow
_HUGE = 4 * 10**WORD_DIGITS  # a divisor that reduces any decimal's word to zero


def number(arg: Evaluator, type: Type, dictionary: Dictionary) -> Evaluator:
    """The evaluator of a cast of texts or floats that takes NaN and the infinities."""
    if arg.type.is_float:
        convert = _converter(arg.type, type)
        if convert is not None:
            return _converted(arg, type, convert, False, dictionary, takes_specials=True)
    if arg.type.kind is Kind.TEXT and type.has_specials:
        if arg.constant is not None:
            special = None if arg.constant == NULL else special_of(dictionary.text(arg.constant))
            if special is not None:
                return constant(word_of(special, dictionary), type)
            return _foreign(arg, type, False, dictionary)
        return _foreign(arg, type, False, dictionary, partial(named_rows, dictionary))
    raise PlanError(f"there is no number of {arg.type} as {type}")


def finite(arg: Evaluator, dictionary: Dictionary) -> Evaluator:
    """The evaluator that fails rows whose number is infinite."""
    inner = arg.evaluate

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        words = full(inner(batch, report, None), batch.shape[1])
        found = np.array(words) if out is None else out
        found[:] = words
        rows = np.flatnonzero(are_special(words, dictionary, INFINITIES))
        if rows.size:
            found[rows] = NULL
            report.append(Failure(rows, rows, lambda places: [explain(words[i]) for i in places]))
        return found

    def explain(word: int) -> str:
        return f"{sql_text(int(word), arg.type, dictionary)} is not a valid {arg.type}: it has no infinities"

    return Evaluator(evaluate, arg.type)


def cast(arg: Evaluator, type: Type, lenient: bool, dictionary: Dictionary) -> Evaluator:
    """The evaluator of CAST or, with `lenient`, TRY_CAST; PlanError if the kinds have no cast."""
    if arg.type == type:
        return arg
    if (arg.type.kind, type.kind) in _SAME_WORDS:
        return arg.typed(type)
    if Kind.TEXT in (arg.type.kind, type.kind):
        return _of_text(arg, type, lenient, dictionary)
    if _holds_all(arg.type, type):
        return arg.typed(type)
    if not {arg.type.kind, type.kind} <= _BY_KERNELS:
        return _foreign(arg, type, lenient, dictionary)
    convert = _converter(arg.type, type)
    if convert is None:
        raise PlanError(f"there is no cast of {arg.type} to {type}")
    return _converted(arg, type, convert, lenient, dictionary)


def _holds_all(source: Type, target: Type) -> bool:
    """Whether all words of the source mean the same in the target."""
    if source.kind is Kind.BOOLEAN:
        return target.is_integer
    if source.has_specials and not target.has_specials:
        return False
    is_alike = source.kind is target.kind is Kind.NUMERIC and source.scale == target.scale
    if not is_alike and not (source.is_integer and target.is_integer):
        return False
    return target.bounds[0] <= source.bounds[0] and source.bounds[1] <= target.bounds[1]


def _converter(source: Type, target: Type) -> Convert | None:
    exact = source.is_integer or source.kind in (Kind.NUMERIC, Kind.BOOLEAN)
    scale = source.scale or 0
    match target.kind:
        case Kind.BOOLEAN if exact or source.is_float:
            return _to_truth
        case Kind.DATE if source.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
            return kernels.instants_to_days
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ if source.kind is Kind.DATE:
            return kernels.days_to_instants
        case Kind.REAL if source.kind is Kind.DOUBLE:
            return kernels.to_single
        case Kind.REAL | Kind.DOUBLE if exact:
            return _to_floats(scale, target.kind is Kind.REAL)
        case Kind.SMALLINT | Kind.INTEGER | Kind.BIGINT | Kind.NUMERIC if exact:
            return _rescaled((target.scale or 0) - scale, *bounds(target))
        case Kind.SMALLINT | Kind.INTEGER | Kind.BIGINT if source.is_float:
            return _from_floats(1.0, True, *bounds(target))
        case Kind.NUMERIC if source.is_float:
            return _from_floats(10.0 ** (target.scale or 0), False, *bounds(target))
    return None


def _to_truth(words: np.ndarray, out: np.ndarray) -> None:
    logic.compare(logic.NE, words, np.zeros(1, np.int64), out)


def _to_floats(scale: int, single: bool) -> Convert:
    power = min(10**scale, 2**63 - 1)

    def convert(words: np.ndarray, out: np.ndarray) -> None:
        kernels.to_floats(words, power, 10.0**scale, single, out)

    return convert


def _rescaled(shift: int, low: int, high: int) -> Convert:
    """Multiplies words by 10**shift, within bounds."""
    if shift > WORD_DIGITS:
        factor, divisor, low, high = 1, 1, 0, 0
    elif shift >= 0:
        factor, divisor = 10**shift, 1
    else:
        factor, divisor = 1, 10**-shift if -shift <= WORD_DIGITS else _HUGE

    def convert(words: np.ndarray, out: np.ndarray) -> int:
        return kernels.rescale(words, factor, divisor, low, high, out)

    return convert


def _from_floats(power: float, to_even: bool, low: int, high: int) -> Convert:
    """Bounds become exclusive, since their neighbours are exact as floats; -2**63 is NULL, not a number."""
    below = float(low - 1) if low - 1 > NULL else float(NULL)
    above = float(high + 1)

    def convert(words: np.ndarray, out: np.ndarray) -> int:
        return kernels.from_floats(words, power, to_even, below, above, out)

    return convert


def _converted(
    arg: Evaluator,
    type: Type,
    convert: Convert,
    lenient: bool,
    dictionary: Dictionary,
    takes_specials: bool = False,
) -> Evaluator:
    exact = _exact(arg.type, type, dictionary, takes_specials)

    def explain(word: int) -> str:
        return f"{sql_text(word, arg.type, dictionary)} is not a valid {type}: out of range"

    evaluate = wide.checked(convert, exact, (arg,), explain, dictionary, lenient)
    return Evaluator(evaluate, type)


def _exact(source: Type, target: Type, dictionary: Dictionary, takes_specials: bool) -> wide.Compute | None:
    """The exact cast for values that the kernel cannot cast; None if the kernel can cast all."""
    if target.may_be_wide and source.is_float:
        return wide.from_float(target, dictionary, takes_specials)
    if source.may_be_wide and target.is_float:
        return wide.to_float(source, target)
    if (source.may_be_wide or target.may_be_wide) and target.is_numeric:
        return wide.rescale(source, target, dictionary)
    return None


def _of_text(arg: Evaluator, type: Type, lenient: bool, dictionary: Dictionary) -> Evaluator:
    if arg.type.is_integer:
        return _written(arg, type, dictionary)
    if arg.type.kind is Kind.BOOLEAN:
        words = [np.array([dictionary.word(text)], np.int64) for text in ("true", "false")]
        return _chosen(arg, type, *words)

    return _foreign(arg, type, lenient, dictionary)


def _foreign(
    arg: Evaluator, type: Type, lenient: bool, dictionary: Dictionary, settle: Settle | None = None
) -> Evaluator:
    """The cast, computed by DuckDB."""

    def explain(row: np.ndarray, reason: str) -> str:
        word = int(row[0]) if row.size else arg.constant
        return f"{sql_text(word, arg.type, dictionary)} is not a valid {type}"  # type: ignore[arg-type]

    template = f"CAST({{0}} AS {type_name(type)})"
    given = arg
    if arg.type.kind is Kind.TEXT and is_rewritten(type):
        given = _readable(arg, type, dictionary)
    elif arg.type.kind is Kind.BYTEA and type.kind is Kind.TEXT:
        template = "'\\x' || lower(hex({0}))"
    return foreign(template, [given], type, dictionary, explain, lenient, settle)


def _readable(arg: Evaluator, type: Type, dictionary: Dictionary) -> Evaluator:
    """Texts, rewritten so that DuckDB can cast them to the type."""

    def compute(rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        texts = dictionary.texts(rows[0])
        return dictionary.intern([None if text is None else readable(text, type) for text in texts]), {}

    inner = arg.evaluate
    memo = Memo(1, compute, dictionary)

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        words = inner(batch, report, None)
        found = np.empty(words.size, np.int64)
        memo(np.ascontiguousarray(words[np.newaxis]), found)
        return found

    constant = arg.constant
    if constant is not None:
        constant = int(evaluate(np.empty((0, 1), np.int64), [], None)[0])
    return replace(arg, evaluate=evaluate, constant=constant)


def _written(arg: Evaluator, type: Type, dictionary: Dictionary) -> Evaluator:
    """Integers as text."""
    inner = arg.evaluate

    def evaluate(batch: np.ndarray, report: Report, out: np.ndarray | None) -> np.ndarray:
        words = inner(batch, report, None)
        if words.size <= _FEW:
            texts = [None if word == NULL else str(word) for word in words.tolist()]
            return dictionary.intern(texts)
        return dictionary.intern(pa.array(words, mask=words == NULL).cast(pa.string()))

    return Evaluator(evaluate, type)


def _chosen(arg: Evaluator, type: Type, true: np.ndarray, false: np.ndarray) -> Evaluator:
    """Truth values as one of two words."""

    def choose(truth: np.ndarray, out: np.ndarray) -> None:
        logic.choose(truth, true, np.where(truth == NULL, NULL, false), out)

    return Evaluator(by_kernel(choose, (arg,)), type)
