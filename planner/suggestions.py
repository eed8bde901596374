"""Suggests the names that a user probably meant by an unknown one.

The distance of two names is the number of letters to change, remove, insert or swap with their neighbour;
case and underscores do not count. A name may differ in one of three letters.
"""

from __future__ import annotations

from collections.abc import Iterable

MOST = 2
"""The most names to suggest."""
_LISTED = 12
"""The most names to list."""


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names of `names` that are nearest to `name`, the best first; equally near names in alphabetical
    order."""
    allowed = max(1, len(name) // 3)
    plain, found = _plain(name), []
    letters = set(plain)
    for other in sorted(set(names)):
        plain_other = _plain(other)
        letters_other = set(plain_other)
        # A step brings one letter or takes one. Most names differ in more, and need no count of the steps.
        if len(letters - letters_other) <= allowed and len(letters_other - letters) <= allowed:
            steps = distance(plain, plain_other)
            if steps <= allowed and steps < len(plain_other):
                found.append((steps, other))
    least = min(found, default=(0, ""))[0]
    return tuple(other for steps, other in sorted(found) if steps <= least)[:MOST]


def did_you_mean(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """A hint with the nearest names, or `otherwise` if none is near."""
    near = nearest(name, names)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def of_columns(name: str, tables: Iterable[tuple[str, Iterable[str]]], otherwise: str = "") -> str:
    """The same for a column; a suggestion has the name of its table before it, if the table has one."""
    owners: dict[str, str] = {}
    for table, columns in tables:
        for column in columns:
            owners.setdefault(column, table)
    near = nearest(name, owners)
    said = [f"{owners[column]}.{column}" if owners[column] else column for column in near]
    return f"did you mean {' or '.join(said)}?" if said else otherwise


def visible(columns: Iterable[str]) -> str:
    """A hint with the columns that can be named; empty if there are none."""
    names = sorted(set(columns))[:_LISTED]
    return f"visible columns: {', '.join(names)}" if names else ""


def perhaps_text(name: str, hint: str) -> str:
    """The hint for a bare name that no column has, which may be a text in the wrong quotation marks."""
    quoted = name.replace("'", "''")
    return f"{hint}; a text is written '{quoted}'" if hint else f"a text is written '{quoted}'"


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def distance(left: str, right: str) -> int:
    """The number of single letters to change, remove, insert or swap with a neighbour between the two."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        above, before, row = before, row, [i]
        for j, b in enumerate(right, start=1):
            steps = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                steps = min(steps, above[j - 2] + 1)
            row.append(steps)
    return row[-1]
