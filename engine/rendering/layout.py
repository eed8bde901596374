"""Where columns go when a collection is arranged by a key."""

from __future__ import annotations


def key_first(columns: tuple[int, ...], keys: tuple[int, ...]) -> tuple[int, ...]:
    """The words of an arrangement: those of the keys, then those of the other columns."""
    others = (word for c, word in enumerate(columns) if c not in keys)
    return (*(columns[k] for k in keys), *others)


def word_positions(width: int, keys: tuple[int, ...]) -> dict[int, int]:
    """Where each of `width` columns is among the words of an arrangement by `keys`."""
    order = key_first(tuple(range(width)), keys)
    return {column: place for place, column in reversed(tuple(enumerate(order)))}
