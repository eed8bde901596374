"""Random items of FROM that go by an order: the nearest row on the right, and windows of time."""

from __future__ import annotations

import random

from tests.property.expressions import SORTS
from tests.property.relations import Columns, Relation, columns_of, together
from tests.property.terms import Term

Item = tuple[Term, tuple[Term, ...]]
_PLACES = (
    "int",
    "date",
    "timestamp",
    "numeric",
    "float",
    "text",
    "time",
    "instant",
    "natural",
    "interval",
    "bool",
)
_SIZES = {"INTERVAL '1 day'": 86_400, "INTERVAL '6 hours'": 21_600, "INTERVAL '90 minutes'": 5_400}


def nearest_row(
    rng: random.Random, left: Term, atoms: tuple[Term, ...], relation: Relation, alias: str
) -> Item | None:
    """The left side with the nearest row of a relation: an ASOF JOIN. None if no columns are alike.

    A column that USING has merged has no table, so it may have the name of one on the right.
    """
    right = columns_of(alias, relation.columns)
    if any(atom.sort in ("approx", "wild", "rough") for atom in right):
        return None
    pairs = [(a, b) for a in atoms for b in right if a.sort == b.sort and a.sort in SORTS]
    pairs = [(a, b) for a, b in pairs if "." in a.text]
    places = [(a, b) for a, b in pairs if a.sort in _PLACES]
    if not places:
        return None
    keys = rng.sample(pairs, min(len(pairs), rng.choice((0, 1, 1, 2))))
    place, op = rng.choice(places), rng.choice((">=", ">", "<=", "<"))
    tests = [Term("bool", "{} = {}", pair) for pair in keys] + [Term("bool", f"{{}} {op} {{}}", place)]
    rng.shuffle(tests)
    on = Term("bool", " AND ".join("{}" for _ in tests), tuple(tests))
    kind = rng.choice(("LEFT ", ""))
    turn = "DESC" if op[0] == ">" else "ASC"
    ties = ", ".join(f"{column.text} NULLS LAST" for column in right)
    theirs = (
        f"{{}} {kind or 'INNER '}JOIN LATERAL (SELECT * FROM {relation.name} AS {alias} WHERE {{}} "
        f"ORDER BY {place[1].text} {turn} NULLS LAST, {ties} LIMIT 1) AS {alias} ON TRUE"
    )
    ours = f"{{}} ASOF {kind}JOIN {relation.name} AS {alias} ON {{}}"
    return Term("from", ours, (left, on), theirs), together(atoms, right)


def windowed_rows(rng: random.Random, relations: list[Relation], alias: str) -> Item | None:
    """The rows of a relation with the windows of time that have them. None if there is no such relation."""
    choices = [
        (relation, name)
        for relation in relations
        for name, sort in relation.columns
        if sort == "timestamp" and not {"window_start", "window_end"} & {n for n, _ in relation.columns}
    ]
    if not choices:
        return None
    relation, at = rng.choice(choices)
    size = rng.choice(tuple(_SIZES))
    seconds = _SIZES[size]
    start = _floored(at, seconds)
    columns: Columns = (*relation.columns, ("window_start", "timestamp"), ("window_end", "timestamp"))
    if rng.random() < 0.5:
        ours = f"TUMBLE({relation.name}, {at}, {size}) AS {alias}"
        theirs = f"(SELECT *, {start} AS window_start, {start} + {size} AS window_end FROM {relation.name})"
        theirs = f"{theirs} AS {alias}"
    else:
        ours = f"HOP({relation.name}, {at}, {size}, 2 * {size}) AS {alias}"
        theirs = (
            f"(SELECT *, {start} - n * {size} AS window_start, {start} + (2 - n) * {size} AS window_end "
            f"FROM {relation.name}, range(2) AS r(n) WHERE {at} IS NOT NULL) AS {alias}"
        )
        theirs = theirs.replace("SELECT *,", f"SELECT {', '.join(name for name, _ in relation.columns)},")
    return Term("from", ours, (), theirs), columns_of(alias, columns)


def _floored(at: str, seconds: int) -> str:
    """The last multiple of the seconds that is not after a time, by whole microseconds."""
    size = seconds * 1_000_000
    return f"make_timestamp(epoch_us({at}) - ((epoch_us({at}) % {size}) + {size}) % {size})"
