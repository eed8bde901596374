"""Functions of numbers that give NULL where they are not defined: LN(-2), SQRT(-16), ACOS(2)."""

from __future__ import annotations

from collections.abc import Mapping

NULL_WHERE_UNDEFINED: Mapping[str, str] = {
    "ACOS(value)": "CASE WHEN abs({0}) <= 1 THEN acos({0}) END",
    "ASIN(value)": "CASE WHEN abs({0}) <= 1 THEN asin({0}) END",
    "LN(value)": "CASE WHEN {0} > 0 THEN ln({0}) END",
    "LOG(base, value)": "CASE WHEN {0} > 0 AND {0} <> 1 AND {1} > 0 THEN log({0}, {1}) END",
    "LOG10(value)": "CASE WHEN {0} > 0 THEN log10({0}) END",
    "LOG2(value)": "CASE WHEN {0} > 0 THEN log2({0}) END",
    "SQRT(value)": "CASE WHEN {0} >= 0 THEN sqrt({0}) END",
}
