"""Texts where MySQL and SQLite want numbers: the number that a text begins with, and zero if it is none.

'3abc' + 1               →  4
CAST('12abc' AS INTEGER) →  12
'a' OR 'b'               →  false
"""

from __future__ import annotations

import re

_NUMBER = r"^\s*([-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?)"
_WHOLE = r"^\s*([-+]?[0-9]+)"
_FOUND = f"TRY_CAST(regexp_extract({{0}}, '{_NUMBER}', 1) AS DOUBLE)"
NUMBER_OF_TEXT = f"CASE WHEN {{0}} IS NOT NULL THEN coalesce({_FOUND}, 0e0) END"
"""The number that the text `{0}` begins with, as a DOUBLE."""
WHOLE_OF_TEXT = (
    f"CASE WHEN {{0}} IS NOT NULL THEN coalesce(nullif(regexp_extract({{0}}, '{_WHOLE}', 1), ''), '0') END"
)
"""The text of the whole number that the text `{0}` begins with."""


def beginning(text: str) -> str:
    """The number that a text begins with, without a plus sign; 0 if there is none."""
    found = re.match(_NUMBER, text)
    if found is None:
        return "0"
    number = found[1].removeprefix("+").rstrip(".")
    return re.sub(r"^(-?)\.", r"\g<1>0.", number)
