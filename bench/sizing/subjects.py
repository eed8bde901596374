"""What is sized: tables of some widths, and views over the narrowest of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

TREE = 85
"""Nodes of a tree of four levels in which a node has four children."""
Make = Callable[[np.ndarray, np.random.Generator], dict[str, object]]


@dataclass(frozen=True)
class Subject:
    """A table `t` with a key `id` and more columns, which `make` gives for ids, and perhaps a view of it."""

    name: str
    columns: str
    make: Make
    view: str = ""


def integers(count: int) -> Make:
    return lambda ids, rng: {f"a{n}": rng.integers(0, 2**40, len(ids)) for n in range(count)}


def texts(length: int, distinct: int = 0) -> Make:
    """Texts of one length: all different, or of a number of different ones."""

    def make(ids: np.ndarray, rng: np.random.Generator) -> dict[str, object]:
        numbers = rng.integers(0, distinct or 2**40, len(ids))
        return {"a0": [f"{number:0{length}d}" for number in numbers.tolist()]}

    return make


def parents(ids: np.ndarray, rng: np.random.Generator) -> dict[str, object]:
    """Trees of `TREE` nodes: a root has -1; a node below has a random parent of the level above its own."""
    inside = ids % TREE
    first, count = np.where(inside < 21, 1, 5), np.where(inside < 21, 4, 16)
    parent = np.where(inside < 5, 0, first + rng.integers(0, 16, len(ids)) % count)
    return {"a0": np.where(inside == 0, -1, ids - inside + parent)}


PAIR = "a0 BIGINT NOT NULL"
CLOSURE = """WITH RECURSIVE up (id, above) AS (SELECT id, a0 FROM t WHERE a0 >= 0 UNION
    SELECT up.id, t.a0 FROM up JOIN t ON t.id = up.above WHERE t.a0 >= 0) SELECT id, above FROM up"""
TABLES = (
    Subject("2 integers", PAIR, integers(1)),
    Subject("8 integers", ", ".join(f"a{n} BIGINT NOT NULL" for n in range(7)), integers(7)),
    Subject("integer, text of 20 bytes, all different", "a0 TEXT NOT NULL", texts(20)),
    Subject("integer, text of 100 bytes, all different", "a0 TEXT NOT NULL", texts(100)),
    Subject("integer, text of 20 bytes, 1,000 different", "a0 TEXT NOT NULL", texts(20, 1_000)),
)
VIEWS = (
    Subject("filter: half of the rows", PAIR, integers(1), "SELECT id, a0 FROM t WHERE a0 % 2 = 0"),
    Subject(
        "join: each row with one other",
        PAIR,
        integers(1),
        "SELECT a.id, b.a0 FROM t AS a JOIN t AS b ON b.id = a.id / 10",
    ),
    Subject(
        "count and sum, 10 rows a group",
        PAIR,
        integers(1),
        "SELECT id / 10 AS g, count(*) AS n, sum(a0) AS total FROM t GROUP BY id / 10",
    ),
    Subject("recursion: all ancestors, 2.7 a row", PAIR, parents, CLOSURE),
)
SUBJECTS = TABLES + VIEWS
