"""The first rows of an order, at random: LIMIT, OFFSET, DISTINCT ON.

The referee breaks ties as it likes, so that its text also orders by what breaks them here: all columns in
turn, NULL last.
"""

from __future__ import annotations

import random

from tests.property.expressions import SORTS
from tests.property.terms import Term

LIMITS = ("LIMIT 1", "LIMIT 2", "LIMIT 3 OFFSET 1", "LIMIT 7", "OFFSET 2")
# How a column is ordered by, and what that means to DuckDB.
DIRECTIONS = (
    ("", " NULLS LAST"),
    ("", " NULLS LAST"),
    (" DESC", " DESC NULLS FIRST"),
    (" NULLS FIRST", " NULLS FIRST"),
    (" DESC NULLS LAST", " DESC NULLS LAST"),
)


def placed(rng: random.Random, query: Term, sorts: tuple[str, ...], alias: str, total: bool = False) -> Term:
    """Some rows of the query, chosen by an order; itself if rounding could decide which.

    With `total` the order leaves no ties, so that the text means the same to every database.
    """
    if any(sort not in SORTS for sort in sorts):
        return query
    columns = [f"{alias}.c{i}" for i in range(len(sorts))]
    chosen = [
        (c, *rng.choice(DIRECTIONS))
        for c in rng.sample(columns, len(columns) if total else rng.randint(0, len(columns)))
    ]
    ours = ", ".join(column + direction for column, direction, _ in chosen)
    theirs = ", ".join([c + direction for c, _, direction in chosen] + [f"{c} NULLS LAST" for c in columns])
    if rng.random() < 0.3:
        keys = [c for c, *_ in chosen] if total else rng.sample(columns, len(columns))
        return _distinct_on(query, keys[: rng.randint(1, len(keys))], ours, theirs, alias)
    order = f"ORDER BY {ours} " if ours else ""
    limit = rng.choice(LIMITS)
    text = f"SELECT * FROM ({{}}) AS {alias} {order}{limit}"
    return Term(query.sort, text, (query,), f"SELECT * FROM ({{}}) AS {alias} ORDER BY {theirs} {limit}")


def _distinct_on(query: Term, columns: list[str], ours: str, theirs: str, alias: str) -> Term:
    keys = ", ".join(columns)
    order = f" ORDER BY {ours}" if ours else ""
    text = f"SELECT DISTINCT ON ({keys}) * FROM ({{}}) AS {alias}{order}"
    first = f"row_number() OVER (PARTITION BY {keys} ORDER BY {theirs}) = 1"
    return Term(query.sort, text, (query,), f"SELECT * FROM ({{}}) AS {alias} QUALIFY {first}")
