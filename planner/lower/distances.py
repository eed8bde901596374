"""Frames of RANGE whose ends are distances from the row's own value, as numbers of words.

A distance counts the unit in which values are words: days for dates, microseconds for timestamps, the last
digit for decimals. Months have no length, and a fraction of a digit is none.
"""

from __future__ import annotations

from decimal import Decimal
from math import ceil, floor, isfinite

from engine.schema import DATE, DOUBLE, TIMESTAMP, TIMESTAMPTZ, Type
from planner.ir import Edge, Frame, FrameSide
from planner.ir.window_items import CURRENT
from planner.native.reference import DAY, constant, fixed_length

_MOST = 2**60

Distances = tuple[int, int] | tuple[float, float]


def distances(frame: Frame, by: Type) -> Distances | None:
    """Where the frame starts and ends, in the direction of an order by values of a type; None if an end is no
    distance that can be counted."""
    low, high = _signed(frame.start, by), _signed(frame.end, by)
    if low is None or high is None:
        return None
    if by == DOUBLE:
        return float(low), float(high)
    return ceil(low), floor(high)


def _signed(edge: Edge, by: Type) -> Decimal | float | None:
    if edge == CURRENT:
        return Decimal(0)
    if edge.offset is None:
        return None
    amount = _moment(edge.offset, by) if by in (DATE, TIMESTAMP, TIMESTAMPTZ) else _number(edge.offset, by)
    if amount is None or not 0 <= amount < _MOST:
        return None
    return amount if edge.side is FrameSide.FOLLOWING else -amount


def _number(offset: str, by: Type) -> Decimal | float | None:
    known, value = constant(offset)
    if not known or isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if by == DOUBLE:
        return float(value) if isfinite(value) else None
    if isinstance(value, float) or not by.is_numeric or by.is_float or by.may_be_wide:
        return None
    scaled = Decimal(value).scaleb(by.scale or 0)
    return scaled if scaled == scaled.to_integral_value() else None


def _moment(offset: str, by: Type) -> Decimal | None:
    length = fixed_length(offset)
    return None if length is None else Decimal(length) / (DAY if by == DATE else 1)
