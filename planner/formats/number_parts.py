"""The parts of numbers by formats: digits with commas in their places, fractions, Roman numerals.

Texts of digits are DuckDB's SQL; `x` stands for the digits of the number without its sign.
"""

from __future__ import annotations

from engine.schema import Kind

NUMBERS = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.REAL, Kind.DOUBLE})
_WIDTH = 15
_ROMANS = (
    ("", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"),
    ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"),
    ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"),
)


def grouped(digits: str, before: str) -> str:
    """The digits with commas in their places, if there is a digit in front of them."""
    if "," not in before:
        return digits
    count = len(before.replace(",", ""))
    padded = f"lpad({digits}, {count}, ' ')"
    parts: list[str] = []
    place = 0
    for group in before.split(","):
        if parts:
            parts.append(f"CASE WHEN trim(left({padded}, {place})) = '' THEN '' ELSE ',' END")
        parts.append(f"trim(substring({padded}, {place + 1}, {len(group)}))")
        place += len(group)
    return " || ".join(parts)


def fraction(behind: str | None, fills: bool) -> str:
    """What follows the digits before the point, with the sign of concatenation; `behind` has the places
    behind the point, and is None without one. Zeros at the end stay if the text `fills` its format."""
    if behind is None:
        return ""
    digits = f"split_part(x, '.', 2)[1:{len(behind)}]" if behind else "''"
    if fills or not behind:
        return f" || '.' || {digits}"
    least = behind.rfind("0") + 1
    trimmed = f"rtrim({digits}, '0')"
    return f" || '.' || rpad({trimmed}, CAST(greatest({least}, length({trimmed})) AS INTEGER), '0')"


def roman(fills: bool) -> str:
    """The Roman numeral of `{0}`, in a text of 15 characters if it fills its format."""
    number = "CAST(round({0}) AS BIGINT)"
    lists = (
        f"list_extract([{', '.join(map(repr, signs))}], CAST({number} // {weight} % 10 AS INTEGER) + 1)"
        for signs, weight in zip(_ROMANS, (100, 10, 1), strict=True)
    )
    written = (
        f"CASE WHEN {number} BETWEEN 1 AND 3999 THEN repeat('M', {number} // 1000) || {' || '.join(lists)}"
        f" WHEN {{0}} IS NOT NULL THEN repeat('#', {_WIDTH}) END"
    )
    return f"lpad({written}, {_WIDTH}, ' ')" if fills else written
