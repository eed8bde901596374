"""SOUNDEX: the code of how an English word sounds, its first letter and three digits.

Letters of one sound have one digit. Letters beside each other with one digit count once, also if H or W
stands between them; vowels have no digit.
"""

from __future__ import annotations

_WORD = "regexp_extract(upper(CAST({0} AS VARCHAR)), '[A-Z]+')"
_HEARD = f"left({_WORD}, 1) || translate(substring({_WORD}, 2), 'HW', '')"
_DIGITS = f"translate({_HEARD}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '01230120022455012623010202')"


def once(text: str) -> str:
    """The text with one of each run of equal digits."""
    for digit in range(7):
        text = f"regexp_replace({text}, '{digit}+', '{digit}', 'g')"
    return text


_CODE = f"left({_WORD}, 1) || rpad(left(replace(substring({once(_DIGITS)}, 2), '0', ''), 3), 3, '0')"
SOUNDEX = f"CASE WHEN {_WORD} <> '' THEN {_CODE} END"
"""The code of `{0}`; NULL for a text without letters."""
