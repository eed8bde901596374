"""Random aggregates with KEEP, beside DuckDB's over the rows that rank first."""

from __future__ import annotations

import random

from tests.property.examples import SQL, hold
from tests.seeds import each_seed, few

TABLES = ("t(id INTEGER, k TEXT, x INTEGER, y INTEGER)", "u(id INTEGER, s TEXT)")
_CALLS = ("sum(x)", "count(*)", "avg(x)", "min(y)", "max(k)", "count(DISTINCT x)", "max(x + y)")
_PLACES = ("x", "y", "k", "x % 2", "id")


def _ordered(rng: random.Random) -> str:
    columns = rng.sample(_PLACES, rng.choice((1, 1, 2)))
    return ", ".join(
        f"{c} {rng.choice(('ASC', 'DESC'))} NULLS {rng.choice(('FIRST', 'LAST'))}" for c in columns
    )


def _turned(order: str) -> str:
    """The order the other way round."""
    pairs = (
        ("ASC", "\0"),
        ("DESC", "ASC"),
        ("\0", "DESC"),
        ("FIRST", "\0"),
        ("LAST", "FIRST"),
        ("\0", "LAST"),
    )
    for old, new in pairs:
        order = order.replace(old, new)
    return order


def _view(rng: random.Random) -> SQL:
    """A query of up to three aggregates with KEEP, over groups or over partitions."""
    keys = rng.choice(([], ["k"], ["id"], ["k", "id % 2"]))
    where = rng.choice(("", " WHERE x IS NOT NULL", " WHERE y > 0 OR k = 'a'"))
    over = rng.random() < 0.3
    by = f"PARTITION BY {', '.join(keys)}" if keys else ""
    ours, ranks, theirs = [], [], []
    for i in range(rng.randint(1, 3)):
        call, order, end = (
            rng.choice(_CALLS[: 2 if over else None]),
            _ordered(rng),
            rng.choice(("FIRST", "LAST")),
        )
        ours.append(
            f"{call} KEEP (DENSE_RANK {end} ORDER BY {order}){f' OVER ({by})' if over else ''} AS a{i}"
        )
        placed = order if end == "FIRST" else _turned(order)
        ranks.append(f"rank() OVER ({by} ORDER BY {placed}) AS r{i}")
        theirs.append(f"{call} FILTER (WHERE r{i} = 1){f' OVER ({by})' if over else ''} AS a{i}")
    ranked = f"(SELECT *, {', '.join(ranks)} FROM t{where})"
    columns = ["id", "x"] if over else [f"{key} AS c{i}" for i, key in enumerate(keys)]
    group = f" GROUP BY {', '.join(keys)}" if keys and not over else ""
    return (
        f"SELECT {', '.join([*columns, *ours])} FROM t{where}{group}",
        f"SELECT {', '.join([*columns, *theirs])} FROM {ranked}{group}",
    )


@each_seed(few(3))
def test_random_aggregates_with_keep(seed: int) -> None:
    rng = random.Random(f"kept {seed}")
    hold(TABLES, [_view(rng) for _ in range(8)], seeds=[seed], length=6, dialect="oracle")
