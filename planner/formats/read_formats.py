"""Reading: the parts of a format as a DuckDB expression that turns a text into a moment.

A regular expression that matches exactly the format's texts divides the text. Texts that other systems accept
beyond the format (missing digits, other separators, trailing garbage) are an error of the row, or NULL if the
system gives NULL for unreadable texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.formats.format_scanner import Part, UnknownToken
from planner.formats.write_formats import template_constant

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
           "october", "november", "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _any_of(words: Sequence[str]) -> str:
    return f"(?i:{'|'.join(words)})"


_FIXED: Mapping[str, str] = {
    "year": r"000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d\d\d",
    "year2": r"\d\d",
    "year of 50": r"\d\d",
    "month": r"0[1-9]|1[0-2]",
    "day": r"0[1-9]|[12]\d|3[01]",
    "hour": r"[01]\d|2[0-3]",
    "hour12": r"0[1-9]|1[0-2]",
    "minute": r"[0-5]\d",
    "second": r"[0-5]\d",
    "month name": _any_of(_MONTHS),
    "month abbreviation": _any_of([name[:3] for name in _MONTHS]),
    "day name": _any_of(_DAYS),
    "day abbreviation": _any_of([name[:3] for name in _DAYS]),
    "meridiem": "(?i:am|pm)",
    "meridiem with dots": r"(?i:a\.m\.|p\.m\.)",
    **{f"fraction{digits}": rf"\d{{{digits}}}" for digits in range(1, 7)},
}
_FREE = {
    "month": r"1[0-2]|0?[1-9]",
    "day": r"[12]\d|3[01]|0?[1-9]",
    "hour": r"1\d|2[0-3]|0?\d",
    "hour12": r"1[0-2]|0?[1-9]",
    "minute": r"[0-5]?\d",
    "second": r"[0-5]?\d",
}
"""Numbers whose leading zero may be missing."""
_LOOSE = {
    **dict.fromkeys(("year2", "month", "day", "hour", "hour12", "minute", "second"), r"\d{1,2}"),
    "year": rf"{_FIXED['year']}|00[1-9]|0[1-9]\d|[1-9]\d\d|\d\d?",
    "fraction6": r"\d{1,6}",
}
"""Numbers that end with their digits or at a maximum length; their range is checked afterwards."""
_DOUBTFUL = {
    **dict.fromkeys(_LOOSE, r"\d{1,4}\s*"),
    **dict.fromkeys(
        ("month name", "month abbreviation"),
        _any_of([name[:length] for name in _MONTHS for length in range(len(name), 0, -1)]),
    ),
}
"""Numbers that run into the next field, and abbreviations of names."""
_GROUPS = {
    "month name": "month", "month abbreviation": "month", "year2": "year", "year of 50": "year",
    "meridiem with dots": "meridiem", "day name": "weekday", "day abbreviation": "weekday",
    "hour12": "hour", **{f"fraction{n}": "fraction" for n in range(1, 7)},
}  # fmt: skip
_DATE = frozenset({"year", "month", "day", "weekday"})


@dataclass(frozen=True)
class ReadRules:
    """How strictly a system reads.

    `free` says whether leading zeros may be missing (None: only where the token has one letter). `pivot` is
    the first two-digit year of the 20th century. `defaults` says whether days and months default to 1,
    `nulls` whether an unreadable text gives NULL. With `loose`, blanks may precede every part and anything
    may follow the last.
    """

    free: bool | None = True
    pivot: int | None = None
    defaults: bool = True
    nulls: bool = False
    loose: bool = False


def read_expression(parts: Sequence[Part], rules: ReadRules, result: str) -> str:
    """A moment of type `result` for the text `{0}`; an empty `result` means DATE or TIMESTAMP, by the parts.

    Raises UnknownToken at a part that sets no field or a field already set, or, with an empty token, if the
    format does not determine a date.
    """
    pattern, doubtful, fields = _pattern(parts, rules)
    of_date, of_time = fields.keys() & _DATE, fields.keys() - _DATE
    needed = {"year"} if rules.defaults else {"year", "month", "day"}
    if result != "TIME" and not needed <= fields.keys():
        raise UnknownToken("", 0)
    if ("meridiem" in fields) != (fields.get("hour") == "hour12"):
        raise UnknownToken("", 0)
    type = result or ("TIMESTAMP" if of_time and of_date else "DATE")
    cast = "TRY_CAST" if rules.nulls else "CAST"
    value = f"CAST({cast}({_moment(fields, rules)} AS TIMESTAMP) AS {type})"
    failed = f"CAST('the text is not of the format: ' || x AS {type})"
    if rules.nulls:
        doubt = f"regexp_matches(x, {template_constant(f'^{doubtful}')})"
        failed = f"CASE WHEN {doubt} THEN {failed} END" if rules.loose else "NULL"
    names = ", ".join(f"'{name}'" for name in fields)
    groups = f"regexp_extract(x, {template_constant(f'^{pattern}$')}, [{names}])"
    found = f"f['{next(iter(fields))}'] <> ''"
    of_groups = f"CASE WHEN {found} THEN {value} WHEN x IS NOT NULL THEN {failed} END"
    of_text = f"list_transform([{groups}], lambda f: {of_groups})[1]"
    return f"list_transform([CAST({{0}} AS VARCHAR)], lambda x: {of_text})[1]"


def _pattern(parts: Sequence[Part], rules: ReadRules) -> tuple[str, str, dict[str, str]]:
    """The regular expression of the format; a wider one for texts that a loose system may read differently;
    and the kinds of field by the names of the groups, in order."""
    pattern, doubtful, fields = "", "", {}
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        blanks = r"\s*" if rules.loose else ""
        if part.element is None:
            text = "" if rules.loose and part.text.isspace() else re.escape(part.text)
            pattern += blanks + text
            doubtful += blanks + text
            continue
        kind = part.element.reads
        name = _GROUPS.get(kind, kind)
        if not kind or name in fields:
            raise UnknownToken(part.token, part.offset)
        alone = after is None or (after.element is None and not after.text[:1].isdigit())
        free = rules.free if rules.free is not None else part.element.digits == 1
        if free and not alone and rules.free is None and kind in _FREE:
            raise UnknownToken(part.token, part.offset)
        ways = _LOOSE if rules.loose else _FREE
        shape = ways[kind] if free and alone and kind in ways else _FIXED[kind]
        pattern += f"{blanks}({shape})"
        doubtful += f"{blanks}(?:{shape if alone and kind in ways else _DOUBTFUL.get(kind, shape)})"
        if kind == "year2" and rules.pivot is None:
            raise UnknownToken(part.token, part.offset)
        fields[name] = kind
    return pattern + ("(?s:.*)" if rules.loose else ""), doubtful, fields


def _moment(fields: Mapping[str, str], rules: ReadRules) -> str:
    """The moment as DuckDB writes moments."""
    year = "f['year']" if "year" in fields else "'1970'"
    if fields.get("year") in ("year2", "year of 50") or rules.loose:
        pivot = 50 if fields.get("year") == "year of 50" else rules.pivot
        early = f"CAST(f['year'] AS INTEGER) >= {pivot}"
        year = (
            f"CASE WHEN length(f['year']) > 2 THEN '' WHEN {early} THEN '19' ELSE '20' END"
            " || lpad(f['year'], CASE WHEN length(f['year']) > 2 THEN 4 ELSE 2 END, '0')"
        )
    month = "f['month']" if "month" in fields else "'01'"
    if fields.get("month", "").startswith("month "):
        names = ", ".join(f"'{name[:3]}'" for name in _MONTHS)
        month = f"CAST(list_position([{names}], lower(substring(f['month'], 1, 3))) AS VARCHAR)"
    hour = (
        "replace(f['hour'], '24', '25')" if "hour" in fields else "'00'"
    )  # DuckDB's hour 24 is the next day
    if "meridiem" in fields:
        noon = "CASE WHEN lower(f['meridiem'][1]) = 'p' THEN 12 ELSE 0 END"
        number = "CAST(f['hour'] AS INTEGER)"
        of_day = f"CASE WHEN {number} BETWEEN 1 AND 12 THEN {number} % 12 + {noon} ELSE 99 END"
        hour = f"CAST({of_day} AS VARCHAR)"
    pieces = [f"({year})", "'-'", month, "'-'", _or_one(fields, "day"), "' '", hour]
    for name in ("minute", "second"):
        pieces += ["':'", f"f['{name}']" if name in fields else "'00'"]
    pieces += ["'.'", "f['fraction']"] if "fraction" in fields else []
    return " || ".join(pieces)


def _or_one(fields: Mapping[str, str], name: str) -> str:
    return f"f['{name}']" if name in fields else "'01'"
