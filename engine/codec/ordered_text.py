"""Texts that sort, by their bytes, as the values they stand for.

The dictionary stores values that need more than a word under such texts, so that whatever sorts texts sorts
these values. A text and a UUID are their own texts; a BYTEA has its hexadecimal digits; JSON is minified, and
its order means nothing. The others:

- A word has 16 hexadecimal digits, those of the word plus 2**63. A number beyond 64 bits, which only a
  NUMERIC has, begins with `g`, or `-` if it is negative; its number of digits and its digits follow,
  complemented in a negative one. NaN is `gn`, and the infinities `gi` and `--`.
- An INTERVAL has 20 digits of its length in microseconds, with months of 30 days, then 8 digits of its months
  and 8 of its days, each plus half of its range. So intervals of equal length are distinct but adjacent.
- An array has its elements one after another: `\\x01`, the element's text, `\\x00`. NULL is `\\x02`, and so
  greater than all elements; a prefix sorts first. In an element's text, `\\x00` is written `\\x01\\x01` and
  `\\x01` is `\\x01\\x02`, so that `\\x00` ends it, and is less than anything else that could follow.
- A STRUCT is the array of its fields, and a MAP the array of its entries, each of which is a STRUCT of its
  key and its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import inf, isnan, nan
from typing import NamedTuple

DAY = 86_400_000_000  # microseconds
_MONTH = 30 * DAY
_WORDS = 1 << 63
_LENGTHS = 1 << 79
_HALVES = 1 << 31
_DIGITS = 100  # more than any number has
_COMPLEMENT = str.maketrans("0123456789", "9876543210")

_SPECIALS = {"gn": nan, "gi": inf, "--": -inf}

_ESCAPES = {"\x00": "\x01\x01", "\x01": "\x01\x02"}
_PLAIN = {escape: mark for mark, escape in _ESCAPES.items()}
_ELEMENT = re.compile("\x02|\x01([^\x00]*)\x00")


class Interval(NamedTuple):
    """Months, days and microseconds; no rule converts one into another, and each has its own sign."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    @property
    def length(self) -> int:
        """The length in microseconds, with months of 30 days."""
        return self.months * _MONTH + self.days * DAY + self.microseconds


def word_text(word: int | float) -> str:
    """The text of a word or of a larger number, which sorts as the number does; a float is NaN or an
    infinity."""
    if isinstance(word, float):
        return "gn" if isnan(word) else "gi" if word > 0 else "--"
    if -_WORDS < word < _WORDS:
        return f"{word + _WORDS:016x}"
    return f"{'g' if word > 0 else '-'}{digits_text(word)}"


def text_word(text: str) -> int | float:
    """The word or number of such a text."""
    if text in _SPECIALS:
        return _SPECIALS[text]
    if text[0] in "g-":
        return digits_number(text[1:], text[0] == "g")
    return int(text, 16) - _WORDS


def digits_text(number: int) -> str:
    """How many digits a number has, and its digits, both complemented in a negative one: they sort as numbers
    of one sign do."""
    digits = str(abs(number))
    if number > 0:
        return f"{len(digits):02}{digits}"
    return f"{_DIGITS - len(digits):02}{digits.translate(_COMPLEMENT)}"


def digits_number(text: str, is_positive: bool) -> int:
    """The number of such a text."""
    return int(text[2:]) if is_positive else -int(text[2:].translate(_COMPLEMENT))


def interval_text(interval: Interval) -> str:
    """The text of an interval, whose parts have 32, 32 and 64 bits."""
    length, months, days = interval.length + _LENGTHS, interval.months + _HALVES, interval.days + _HALVES
    return f"{length:020x}{months:08x}{days:08x}"


def text_interval(text: str) -> Interval:
    """The interval of such a text."""
    length = int(text[:20], 16) - _LENGTHS
    months, days = int(text[20:28], 16) - _HALVES, int(text[28:], 16) - _HALVES
    return Interval(months, days, length - months * _MONTH - days * DAY)


def array_text(elements: Iterable[str | None]) -> str:
    """The text of an array, given the texts of its elements; None for NULL."""
    return "".join("\x02" if element is None else f"\x01{_escaped(element)}\x00" for element in elements)


def text_elements(text: str) -> Iterator[str | None]:
    """The elements' texts, in order."""
    for match in _ELEMENT.finditer(text):
        element = match[1]
        yield element if element is None or "\x01" not in element else _unescaped(element)


def _escaped(text: str) -> str:
    if "\x00" in text or "\x01" in text:
        return re.sub("[\x00\x01]", lambda mark: _ESCAPES[mark[0]], text)
    return text


def _unescaped(text: str) -> str:
    return re.sub("\x01[\x01\x02]", lambda escape: _PLAIN[escape[0]], text)
