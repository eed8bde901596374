"""Whole columns as texts, where Arrow writes the same texts as the codecs, and PostgreSQL too.

These are integers, texts, days of the years 1 to 9999, and decimals; of these, Arrow gives those an exponent
that begin with too many zeros, which are written one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from engine.schema import Kind

TEXTS = pa.large_string()
_PLACES = 6
"""A decimal with so many places has no exponent."""
_FIRST, _LAST = date(1, 1, 1), date(9999, 12, 31)
_NUMBERS = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT})
_STRINGS = frozenset({Kind.TEXT, Kind.UUID, Kind.TIMETZ, Kind.BIT, Kind.JSON})


def column_texts(array: pa.Array, kind: Kind) -> pa.LargeStringArray | None:
    """The texts of values of a kind, null for NULL; None if Arrow would write them in another way."""
    for kinds, is_of, convert in _WAYS:
        if kind in kinds and is_of(array.type):
            return convert(array)
    return None


def _is_text(type: pa.DataType) -> bool:
    return pa.types.is_string(type) or pa.types.is_large_string(type)


def _is_decimal(type: pa.DataType) -> bool:
    return pa.types.is_decimal128(type) and type.scale >= 0


def _cast(array: pa.Array) -> pa.LargeStringArray:
    return array.cast(TEXTS)


def _decimals(array: pa.Array) -> pa.LargeStringArray:
    texts = array.cast(TEXTS)
    if array.type.scale <= _PLACES:
        return texts
    marked = pc.match_substring(texts, "E").fill_null(False)
    written = [format(number, "f") for number in array.filter(marked).to_pylist()]
    return pc.replace_with_mask(texts, marked, pa.array(written, TEXTS))


def _days(array: pa.Array) -> pa.LargeStringArray | None:
    days = array.cast(pa.date32())
    return days.cast(TEXTS) if are_within(days, _FIRST, _LAST) else None


def are_within(array: pa.Array, first: object, last: object) -> bool:
    """Whether no value is less than the first or greater than the last."""
    ends = pc.min_max(array)
    least, most = (ends[name] for name in ("min", "max"))
    low, high = (pa.scalar(end, array.type) for end in (first, last))
    return not least.is_valid or (pc.greater_equal(least, low).as_py() and pc.less_equal(most, high).as_py())


_WAYS: tuple[
    tuple[
        frozenset[Kind],
        Callable[[pa.DataType], bool],
        Callable[[pa.Array], pa.LargeStringArray | None],
    ],
    ...,
] = (
    (_NUMBERS, pa.types.is_signed_integer, _cast),
    (_STRINGS, _is_text, _cast),
    (frozenset({Kind.DATE}), pa.types.is_date32, _days),
    (frozenset({Kind.NUMERIC}), _is_decimal, _decimals),
)
