"""The hint PRIORITY changes no row: views with and without it, at every epoch of random histories."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import INTEGER, Column, Schema
from planner import Relation, plan_query
from tests.seeds import each_seed, few

EPOCHS = 10
NODES = 12
EDGES = Schema((Column("a", INTEGER, False), Column("b", INTEGER, False), Column("w", INTEGER)))
ROUNDS = ["{0}", "{0} * 1000000", "5 - {0} * 3 % 7", "CASE WHEN {0} % 3 = 0 THEN NULL ELSE 20 - {0} END"]
"""Also rounds beyond all limits of their number, NULL, less than zero, and the worst first."""

LABELS = (
    "WITH MUTUALLY RECURSIVE labels (n INT, label INT) AS (SELECT n, min(label) FROM ("
    "SELECT <label> a AS n, a AS label FROM edges UNION ALL SELECT <label> b, b AS label FROM edges "
    "UNION ALL SELECT e.b, l.label FROM labels l JOIN edges e ON e.a = l.n UNION ALL "
    "SELECT e.a, l.label FROM labels l JOIN edges e ON e.b = l.n) s GROUP BY n) SELECT n, label FROM labels"
)
SHORTEST = (
    "WITH MUTUALLY RECURSIVE paths (n INT, km INT) AS (SELECT <km> a AS n, w AS km FROM edges WHERE a < 3 "
    "UNION ALL SELECT e.b, s.km + e.w FROM shortest s JOIN edges e ON e.a = s.n WHERE s.km < 30), "
    "shortest (n INT, km INT) AS (SELECT n, min(km) FROM paths GROUP BY n) SELECT n, km FROM shortest"
)
REACHED = (
    "WITH RECURSIVE r (x, y) AS (SELECT <x> a AS x, b FROM edges UNION "
    "SELECT r.x, e.b FROM r JOIN edges e ON e.a = r.y) SELECT x, y FROM r"
)
WALKS = (
    "WITH MUTUALLY RECURSIVE walks (n INT, steps INT) AS (SELECT <n> a AS n, 0 AS steps FROM edges "
    "UNION ALL SELECT e.b, v.steps + 1 FROM walks v JOIN edges e ON e.a = v.n WHERE v.steps < 3) "
    "SELECT n, steps FROM walks"
)


def hinted(sql: str, rounds: str) -> str:
    for column in ("label", "km", "x", "n"):
        text = f"/*+ PRIORITY({rounds.format(column)}) */" if rounds else ""
        sql = sql.replace(f"<{column}>", text)
    return sql


def history(rng: random.Random) -> list[tuple[int, tuple[int, int, int | None], int]]:
    """(epoch, row, difference) of random edges that come and go, a few of them twice."""
    held: list[tuple[int, int, int | None]] = []
    changes = []
    for epoch in range(1, EPOCHS + 1):
        for _ in range(16 if epoch == 1 else 4):
            if held and rng.random() < 0.45:
                changes.append((epoch, held.pop(rng.randrange(len(held))), -1))
            else:
                held.append((rng.randrange(NODES), rng.randrange(NODES), rng.choice([1, 2, 5, 9, None])))
                changes.append((epoch, held[-1], 1))
    return changes


def advance(engine: Engine, changes: list, first: int, end: int) -> None:
    """Publish the epochs from `first` up to `end`, in one stage."""
    new = [change for change in changes if first <= change[0] < end]
    words = encode_rows([row for _, row, _ in new], EDGES, engine.dictionary)
    tail = np.array([[epoch for epoch, _, _ in new], [diff for _, _, diff in new]], np.int64)
    stage = engine.stage({"edges": np.ascontiguousarray(np.concatenate([words, tail]))}, end)
    assert not stage.failed
    stage.publish()


def rows(engine: Engine, view: str, epoch: int) -> Counter:
    words, counts = engine.snapshot.rows(view, epoch)
    schema = engine.snapshot.schema(view)
    return Counter(dict(zip(decode_rows(words, schema, engine.dictionary), counts.tolist(), strict=True)))


@each_seed(few(3))
@pytest.mark.parametrize(
    "sql", [LABELS, SHORTEST, REACHED, WALKS], ids=["labels", "shortest", "reached", "walks"]
)
def test_rows_are_the_same_at_every_epoch(sql: str, seed: int) -> None:
    rng = random.Random(seed)
    engine = Engine()
    engine.create_source("edges", EDGES, None)
    catalog = {"edges": Relation("edges", EDGES, Source("edges", EDGES), None)}
    for i, rounds in enumerate(["", *ROUNDS]):
        engine.create_view(f"v{i}", plan_query(hinted(sql, rounds), catalog).plan)
    changes, epoch, shown = history(rng), 1, 0
    while epoch <= EPOCHS:
        end = min(epoch + rng.choice([1, 1, 3]), EPOCHS + 1)
        advance(engine, changes, epoch, end)
        for at in range(epoch, end):
            plain = rows(engine, "v0", at)
            shown += len(plain)
            assert all(rows(engine, f"v{i}", at) == plain for i in range(1, len(ROUNDS) + 1)), at
        epoch = end
    assert shown
