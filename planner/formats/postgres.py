"""Template languages: to_char's of PostgreSQL and its relatives, Redshift, Materialize and RisingWave.

A token has the cases that the manual lists, and words are written in its case. `FM` and `TH` apply to one
token. Text in double quotes is literal, and so are characters that form no token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from planner.formats.elements import ELEMENTS as E
from planner.formats.elements import Element, filled, fixed_text, fraction, lower_case, unpadded, upper_case
from planner.formats.format_scanner import Part, Scan, Tokens, UnknownToken, longest

_AGE = "CASE WHEN year({t}) > 0 THEN year({t}) ELSE 1 - year({t}) END"
_ISO_AGE = "CASE WHEN isoyear({t}) > 0 THEN isoyear({t}) ELSE 1 - isoyear({t}) END"


def _of_all_time(name: str, value: str, age: str) -> Element:
    """An element of the year that also counts the years before Christ, without a limit."""
    element = E[name]
    return replace(element, value=element.value.replace(value, f"({age})"), directive="")


_ERA = {"AD": ("'BC'", "'AD'"), "A.D.": ("'B.C.'", "'A.D.'")}


def _era(form: str) -> Element:
    before, after = _ERA[form]
    return Element(f"CASE WHEN year({{t}}) > 0 THEN {after} ELSE {before} END")


_POSTGRES_UPPER: Tokens = {
    **dict.fromkeys(("HH", "HH12"), E["hour of 12"]),
    "HH24": E["hour"],
    "MI": E["minute"],
    "SS": E["second"],
    "MS": E["millis"],
    "US": E["micros"],
    **{f"FF{digits}": fraction(digits) for digits in range(1, 7)},
    **dict.fromkeys(("SSSS", "SSSSS"), E["second of day"]),
    **dict.fromkeys(("AM", "PM"), E["AM"]),
    **dict.fromkeys(("A.M.", "P.M."), E["A.M."]),
    **dict.fromkeys(("AD", "BC"), _era("AD")),
    **dict.fromkeys(("A.D.", "B.C."), _era("A.D.")),
    "Y,YYY": _of_all_time("year, comma", "year({t})", _AGE),
    "YYYY": _of_all_time("year", "year({t})", _AGE),
    "YYY": _of_all_time("year of 3", "year({t})", _AGE),
    "YY": _of_all_time("year of 2", "year({t})", _AGE),
    "Y": _of_all_time("year of 1", "year({t})", _AGE),
    "IYYY": _of_all_time("iso year", "isoyear({t})", _ISO_AGE),
    "IYY": _of_all_time("iso year of 3", "isoyear({t})", _ISO_AGE),
    "IY": _of_all_time("iso year of 2", "isoyear({t})", _ISO_AGE),
    "I": _of_all_time("iso year of 1", "isoyear({t})", _ISO_AGE),
    "CC": replace(
        E["century"],
        value="CASE WHEN year({t}) > 0 THEN (year({t}) + 99) // 100 ELSE -(-year({t}) // 100) - 1 END",
    ),
    "MM": E["month"],
    "RM": filled(E["roman month"], 4),
    "MONTH": filled(E["Month"], 9),
    "MON": E["Mon"],
    "DAY": filled(E["Day"], 9),
    "DY": E["Dy"],
    "DDD": E["day of year"],
    "IDDD": E["iso day of year"],
    "DD": E["day"],
    "D": E["day of week"],
    "ID": E["iso day of week"],
    "W": E["week of month"],
    "WW": E["week of year"],
    "IW": E["iso week"],
    "Q": E["quarter"],
    "J": E["julian day"],
    "TZ": Element("CASE typeof({0}) WHEN 'TIMESTAMP' THEN '' ELSE 'UTC' END"),
    "TZH": fixed_text("+00"),
    "TZM": fixed_text("00"),
    "OF": fixed_text("+00"),
    "FX": fixed_text(""),
}
_ALWAYS_FILLED = frozenset({"MS", "US", *(f"FF{digits}" for digits in range(1, 7))})
"""PostgreSQL's numbers that keep their zeros after FM."""


def _cased(tokens: Tokens) -> dict[str, Element | None]:
    """The tokens in the cases that PostgreSQL lists; words are written in their token's case."""
    found: dict[str, Element | None] = {}
    for token, element in tokens.items():
        is_word = element is not None and not element.digits
        if token in ("MONTH", "MON", "DAY", "DY"):
            found[token.capitalize()] = element
            found[token] = upper_case(element) if element is not None else None
        else:
            found[token] = element
        found[token.lower()] = lower_case(element) if is_word and element is not None else element
    return found


_PREFIXES = {"FM": True, "fm": True, "TM": True, "tm": True}


def _modified(element: Element, token: str, prefix: str) -> Element:
    """FM removes leading zeros and padding; TM applies to words alone, in the session's language."""
    if prefix == "FM" and token == "OF":
        return fixed_text("+0")
    if prefix == "TM":
        return unpadded(element) if token in ("DAY", "MONTH") else element
    return unpadded(element) if prefix and token not in _ALWAYS_FILLED else element


_ORDINALS = {"TH": "upper", "th": "lower"}


def _postgres(tokens: Tokens, modifiers: bool = True) -> Scan:
    """Text in double quotes is literal, and so are characters that form no token."""

    def scan(form: str) -> Iterator[Part]:
        place = 0
        while place < len(form):
            start = place
            prefix = longest(_PREFIXES, form, place) if modifiers else ""
            place += len(prefix)
            token = longest(tokens, form, place)
            if token:
                element = tokens[token]
                place += len(token)
                ordinal = longest(_ORDINALS, form, place) if modifiers else ""
                place += len(ordinal)
                if element is None or (modifiers and form.startswith("SP", place)):
                    raise UnknownToken(f"{prefix}{token}", start)
                element = _modified(element, token.upper(), prefix.upper())
                if ordinal and element.digits:
                    element = replace(element, ordinal=_ORDINALS[ordinal])
                yield Part(form[start:place], start, element)
            elif place < len(form):
                length, words = _text(form, place)
                yield Part(form[start : place + length], start, text=words)
                place += length

    return scan


def _text(form: str, start: int) -> tuple[int, str]:
    """Text outside tokens: one character, or a quoted text, in which backslashes escape."""
    if form[start] != '"':
        escaped = form.startswith('\\"', start)
        return (2, '"') if escaped else (1, form[start])
    words, place = "", start + 1
    while place < len(form) and form[place] != '"':
        place += 1 if form[place] == "\\" and place + 1 < len(form) else 0
        words += form[place]
        place += 1
    return min(place + 1, len(form)) - start, words


def _without(tokens: Tokens, *refused: str) -> Tokens:
    return {token: None if token in refused else element for token, element in tokens.items()}


_SINCE_10 = (*(f"FF{digits}" for digits in range(1, 7)), "TZH", "TZM", "SSSSS", "FX")
postgres = _postgres(_cased(_POSTGRES_UPPER))
materialize = _postgres(_cased(_without({k: v for k, v in _POSTGRES_UPPER.items() if k != "OF"}, *_SINCE_10)))
redshift = _postgres({**_cased(_without(_POSTGRES_UPPER, *_SINCE_10, "TZ")), "of": None})
_RISINGWAVE: Mapping[str, str] = {
    "HH24": "hour", "HH12": "hour of 12", "HH": "hour of 12", "MI": "minute", "SS": "second", "YYYY": "year",
    "YY": "year of 2", "IYYY": "iso year", "IY": "iso year of 2", "MM": "month", "DD": "day", "US": "micros",
    "MS": "millis", "AM": "AM", "PM": "AM",
}  # fmt: skip
risingwave = _postgres(
    {
        **{token: E[name] for token, name in _RISINGWAVE.items()},
        **{token.lower(): E[name] for token, name in _RISINGWAVE.items()},
        **dict.fromkeys(("am", "pm"), lower_case(E["AM"])),
        **dict.fromkeys(("Month",), E["Month"]),
        **dict.fromkeys(("Mon",), E["Mon"]),
        **dict.fromkeys(("NS", "ns"), fraction(9)),
        **dict.fromkeys(("TZH:TZM", "tzh:tzm"), fixed_text("+00:00")),
        **dict.fromkeys(("TZHTZM", "tzhtzm"), fixed_text("+0000")),
        **dict.fromkeys(
            (
                *("TZH", "tzh", "%", '"', "FM", "fm", "TH", "th"),
                *(token for token in _cased(_POSTGRES_UPPER) if token.upper() not in _RISINGWAVE),
            )
        ),
        "Month": E["Month"],
        "Mon": E["Mon"],
    },
    modifiers=False,
)
