"""Template languages: to_char's of Oracle and Snowflake, and BigQuery's CAST ... FORMAT.

Tokens have any case; in Oracle and BigQuery, words are written in the case of their token. Oracle's `FM`
applies up to the next `FM`. Text stands in double quotes; other letters that form no token are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.formats.elements import ELEMENTS as E
from planner.formats.elements import Element, filled, fixed_text, fraction, lower_case, unpadded, upper_case
from planner.formats.format_scanner import Part, Scan, Tokens, UnknownToken, longest

_ORACLE: Tokens = {
    "YYYY": E["year"],
    "YYY": E["year of 3"],
    "YY": E["year of 2"],
    "Y": E["year of 1"],
    "Y,YYY": E["year, comma"],
    "RRRR": E["year"],
    "RR": E["year of 2"],
    "MM": E["month"],
    "MON": E["Mon"],
    "MONTH": filled(E["Month"], 9),
    "DD": E["day"],
    "DDD": E["day of year"],
    "D": E["day of week"],
    "DAY": filled(E["Day"], 9),
    "DY": E["Dy"],
    **dict.fromkeys(("HH", "HH12"), E["hour of 12"]),
    "HH24": E["hour"],
    "MI": E["minute"],
    "SS": E["second"],
    "SSSSS": replace(E["second of day"], digits=5),
    **{f"FF{digits}": fraction(digits) for digits in range(1, 10)},
    **dict.fromkeys(("AM", "PM"), E["AM"]),
    **dict.fromkeys(("A.M.", "P.M."), E["A.M."]),
    "TZH": fixed_text("+00"),
    "TZM": fixed_text("00"),
}
_WORDS = frozenset(
    {"MON", "MONTH", "DAY", "DY", "AM", "PM", "A.M.", "P.M.", "AD", "A.D.", "BC", "B.C.", "RM"}
)


def _in_case(element: Element, token: str) -> Element | None:
    """The word in the case of its token; None for a mixed case with no meaning."""
    if token in (token.upper(), token.lower()):
        return upper_case(element) if token == token.upper() else lower_case(element)
    return element if token == token.capitalize() else None


def _caseless(tokens: Tokens, cased: bool = True, modifiers: bool = False, plain: str = "") -> Scan:
    """Tokens in any case; letters outside quotes that form no token are refused, except those of `plain`."""

    def scan(form: str) -> Iterator[Part]:
        place, fills = 0, True
        shouted = form.upper()
        while place < len(form):
            start = place
            if modifiers and shouted.startswith("FM", place):
                fills = not fills
                place += 2
                continue
            token = longest(tokens, shouted, place)
            if token:
                place += len(token)
                yield Part(form[start:place], start, element(form, start, token, fills))
                ordinal = shouted.startswith("TH", place) or shouted.startswith("SP", place)
                if modifiers and ordinal:
                    raise UnknownToken(form[start : place + 2], start)
            elif form[place] == '"':
                end = form.find('"', place + 1)
                if end < 0:
                    raise UnknownToken(form[place:], place)
                place = end + 1
                yield Part(form[start:place], start, text=form[start + 1 : end])
            elif form[place].isalpha() and form[place] not in plain:
                raise UnknownToken(form[place], place)
            else:
                place += 1
                yield Part(form[start], start, text=form[start])

    def element(form: str, start: int, token: str, fills: bool) -> Element:
        found = tokens[token]
        written = form[start : start + len(token)]
        if found is not None and cased and token in _WORDS:
            found = _in_case(found, written)
        if found is None:
            raise UnknownToken(written, start)
        return found if fills else unpadded(found)

    return scan


oracle = _caseless(
    {
        **_ORACLE,
        "RR": replace(E["year of 2"], reads="year of 50"),
        **dict.fromkeys(("A.M.", "P.M."), replace(E["A.M."], reads="meridiem with dots")),
        "SYYYY": Element("format(' {:04d}', year({t}))"),
        "IYYY": E["iso year"],
        "IYY": E["iso year of 3"],
        "IY": E["iso year of 2"],
        "I": E["iso year of 1"],
        "CC": E["century"],
        "SCC": Element("format(' {:02d}', (year({t}) + 99) // 100)"),
        **dict.fromkeys(("AD", "BC"), E["AD"]),
        **dict.fromkeys(("A.D.", "B.C."), E["A.D."]),
        "Q": E["quarter"],
        "RM": filled(E["roman month"], 4),
        "W": E["week of month"],
        "WW": E["week of year"],
        "IW": E["iso week"],
        "J": replace(E["julian day"], digits=7),
        "FF": fraction(6),
        "X": fixed_text("."),
        **dict.fromkeys(("DL", "DS", "TS", "E", "EE", "FX", "TZD", "TZR", "YEAR", "SYEAR")),
    },
    modifiers=True,
)
snowflake = _caseless(
    {
        "YYYY": E["year"],
        "YY": E["year of 2"],
        "MM": E["month"],
        "MON": E["Mon"],
        "MMMM": E["Month"],
        "DD": E["day"],
        "DY": E["Dy"],
        "HH24": E["hour"],
        "HH12": E["hour of 12"],
        **dict.fromkeys(("AM", "PM"), E["AM"]),
        "MI": E["minute"],
        "SS": E["second"],
        "FF": fraction(9),
        "FF0": None,
        **{f"FF{digits}": fraction(digits) for digits in range(1, 10)},
        **dict.fromkeys(("TZH:TZM", "TZHTZM", "TZH", "TZM", "UUUU")),
        **dict.fromkeys(
            ("D", "DAY", "DDD", "HH", "MONTH", "Q", "Y", "YYY", "W", "WW", "J", "CC", "RM", "AD")
        ),
    },
    cased=False,
    plain="TZ",
)
bigquery = _caseless({**_ORACLE, **dict.fromkeys(("TZH", "TZM"))}, plain="")
