"""Subscripts as they are written, with the number that their dialect gives the first element.

sqlglot's parser counts from 0, but moves only those numbers that it takes for integers, of values that it
takes for arrays. Nothing in its trees says which of them it has moved, so here it moves none.
"""

from __future__ import annotations

from sqlglot import Dialect, exp

_OFFSET = "offset"
FROM_END = "from_end"
"""The mark of a subscript that counts from the end if it is negative, where others are errors."""


def keeping_subscripts(dialect: str) -> Dialect:
    """The dialect for a parser that keeps subscripts as they are written."""
    made = Dialect.get_or_raise(dialect)
    made.INDEX_OFFSET = 0  # type: ignore[misc]  # of this object alone
    return made


def remember_first(tree: exp.Expr, dialect: str) -> None:
    """Mark every subscript with the number of the first element, where the text does not say it itself."""
    first = Dialect.get_or_raise(dialect).INDEX_OFFSET
    for subscript in tree.find_all(exp.Bracket):
        if _OFFSET not in subscript.args:
            subscript.set(_OFFSET, first)


def first_of(subscript: exp.Bracket) -> int:
    """The number of the first element, 0 or 1."""
    return int(subscript.args.get(_OFFSET, 0))  # sqlglot's own count


def is_counted_from_zero(subscript: exp.Bracket) -> bool:
    """Whether the subscript is one number, of an element, and the first element has number 0."""
    place = subscript.expressions[0]
    number = len(subscript.expressions) == 1 and not isinstance(place, exp.Slice) and not place.is_string
    return number and first_of(subscript) == 0


def set_place(subscript: exp.Bracket, place: exp.Expr) -> None:
    """Make `place`, counted from 1, the subscript."""
    subscript.set("expressions", [place])
    subscript.set(_OFFSET, 1)
