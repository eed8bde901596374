"""Signatures of functions, as tables of meanings have them: names, and the places of the arguments.

DATEADD | TIMEADD(unit, n, at)      two names of one function
LAST_DAY(at, unit?)                 an argument that may be left out
OBJECT_PICK(a, ...)                 one argument or more
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

M = TypeVar("M")


@dataclass(frozen=True)
class Signature(Generic[M]):
    """One argument list of a function, and its meaning. It has at least `least` arguments and at most `most`;
    None if there is no most."""

    name: str
    places: tuple[str, ...]
    least: int
    most: int | None
    meaning: M

    def takes(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def __str__(self) -> str:
        """As manuals write it: `last_day(at[, unit])`."""
        count, rest = len(self.places) if self.most is None else self.least, ""
        for place in reversed(self.places[count:]):
            rest = f"[, {place}{rest}]"
        shown = ", ".join(self.places[:count]) + rest
        return f"{self.name.lower()}({shown if count else shown.replace('[, ', '[', 1)})"


def signatures(table: Mapping[str, M]) -> dict[str, tuple[Signature[M], ...]]:
    """The argument lists of a table's functions, by name in upper case."""
    found: dict[str, tuple[Signature[M], ...]] = {}
    for written, meaning in table.items():
        names, _, rest = written.removesuffix(")").partition("(")
        places = [place.strip() for place in rest.split(",") if place.strip()]
        is_open = "..." in places
        least = sum(place != "..." and not place.endswith("?") for place in places)
        most = None if is_open else len(places)
        bare = tuple(place.rstrip("?") for place in places)
        for name in map(str.strip, names.split("|")):
            found[name] = (*found.get(name, ()), Signature(name, bare, least, most, meaning))
    return found
