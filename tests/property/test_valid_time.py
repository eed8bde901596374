"""Views over tables with valid time: at every epoch and every valid time, DuckDB's answer over what is valid.

Histories have periods that begin in the past and in the future, end or do not, overlap across keys, and are
corrected afterwards. Views are asked at each moment at which anything changes, between them, and before and
after all of them.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from engine.schema import BIGINT, TEXT, TIMESTAMPTZ, Column, Schema
from planner import Relation, plan_query
from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.seeds import each_seed, few

EPOCHS = 6
DAYS = 8
FIRST = datetime(2024, 1, 1, tzinfo=UTC)
Timed = tuple[int, str | None, int | None, int, int | None]
"""A row of a table with valid time: key, text, number, and the days from and until which it is valid."""

COLUMNS = (Column("k", BIGINT, False), Column("s", TEXT), Column("n", BIGINT))
PERIOD = (Column("valid_from", TIMESTAMPTZ, False), Column("valid_to", TIMESTAMPTZ))
TIMED = Schema((*COLUMNS[:1], PERIOD[0], *COLUMNS[1:], PERIOD[1]))
EDGES = Schema((Column("a", BIGINT, False), Column("b", BIGINT, False), *PERIOD))
PLAIN = Schema((Column("k", BIGINT, False), Column("t", TEXT)))

VIEWS = {
    "rows": "SELECT k, s, n FROM x WHERE n > 2 OR n IS NULL",
    "bag": "SELECT s FROM x UNION ALL SELECT s FROM y",
    "joined": "SELECT x.k, x.n, y.n AS m FROM x JOIN y ON x.k = y.k",
    "kept": "SELECT x.k, y.s, p.t FROM x LEFT JOIN y ON x.n = y.n LEFT JOIN p ON p.k = x.k",
    "full": "SELECT x.k, y.k AS l FROM x FULL JOIN y ON x.s = y.s",
    "grouped": "SELECT s, count(*) AS c, CAST(sum(n) AS BIGINT) AS n, min(n) AS low, max(k) AS high "
    "FROM x GROUP BY s",
    "all": "SELECT count(*) AS c, CAST(sum(n) AS BIGINT) AS n, avg(n) AS m FROM x",
    "distinct": "SELECT DISTINCT s FROM x",
    "first": "SELECT k, n FROM x ORDER BY n DESC NULLS LAST, k LIMIT 2",
    "ranked": "SELECT k, s, rank() OVER (PARTITION BY s ORDER BY n) AS r, "
    "CAST(sum(n) OVER (ORDER BY k) AS BIGINT) AS t FROM x",
    "missing": "SELECT k FROM x WHERE NOT EXISTS (SELECT 1 FROM y WHERE y.k = x.k)",
    "above": "SELECT k FROM x WHERE n > (SELECT avg(n) FROM y)",
    "except": "SELECT s FROM x EXCEPT SELECT s FROM y",
    "reach": "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM edges UNION "
    "SELECT r.a, e.b FROM r JOIN edges e ON e.a = r.b) SELECT a, b FROM r",
    "near": "WITH RECURSIVE r (b, d) AS (SELECT b, 1 FROM edges WHERE a = 0 UNION "
    "SELECT e.b, r.d + 1 FROM r JOIN edges e ON e.a = r.b WHERE r.d < 4) "
    "SELECT b, min(d) AS d FROM r GROUP BY b",
    "reached": "SELECT x.k, count(*) AS c FROM x JOIN reach ON reach.a = x.k GROUP BY x.k",
    "tops": "SELECT s, c FROM grouped WHERE c > 1",
    "then": "SELECT k, s FROM x FOR VALID_TIME AS OF '2024-01-04'",
    "mixed": "SELECT x.k, o.n FROM x JOIN y FOR VALID_TIME AS OF TIMESTAMP '2024-01-03' AS o ON o.k = x.k",
}
INLINED = {"reached": ("reach",), "tops": ("grouped",)}
FIXED = {
    "then": ("x", "SELECT k, s FROM x", 3.0),
    "mixed": ("y", "SELECT x.k, y.n FROM x JOIN y ON x.k = y.k", 2.0),
}
"""Views that read a table at one valid time: the table, the query without the clause, and the day."""


def at(day: float) -> datetime:
    return FIRST + timedelta(days=day)


class Tables:
    """The tables of a history: their rows at the newest epoch, with periods as days."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.rows: dict[str, Counter] = {name: Counter() for name in ("x", "y", "edges", "p")}

    def change(self) -> dict[str, list[tuple[tuple, int]]]:
        """Random changes of all tables; periods of a key stay apart."""
        changes: dict[str, list[tuple[tuple, int]]] = {}
        for name, rows in self.rows.items():
            lines = changes.setdefault(name, [])
            for _ in range(self.rng.choice((0, 1, 2, 4))):
                if rows and self.rng.random() < 0.35:
                    row, diff = self.rng.choice(sorted(rows, key=repr)), -1
                else:
                    row, diff = self._row(name), 1
                    if name != "p" and self._overlaps(name, row):
                        continue
                rows[row] += diff
                if not rows[row]:
                    del rows[row]
                lines.append((row, diff))
        return changes

    def _row(self, name: str) -> tuple:
        key = self.rng.randrange(4)
        if name == "p":
            return (key, self.rng.choice("uv"))
        since, until = sorted(self.rng.sample(range(DAYS), 2))
        period = (since, self.rng.choice((until, until, None)))
        if name == "edges":
            return (key, self.rng.randrange(4), *period)
        return (key, self.rng.choice(("a", "b", None)), self.rng.choice((1, 2, 3, 5, None)), *period)

    def _overlaps(self, name: str, row: tuple) -> bool:
        width = 2 if name == "edges" else 1
        ends = (DAYS + 1 if row[-1] is None else row[-1], row[-2])
        return any(
            other[:width] == row[:width]
            and other[-2] < ends[0]
            and ends[1] < (DAYS + 1 if other[-1] is None else other[-1])
            for other in self.rows[name]
        )

    def valid(self, day: float) -> dict[str, list[tuple]]:
        """The rows that are valid on a day, without periods."""
        return {
            name: [
                row[:-2] if name != "p" else row
                for row in rows.elements()
                if name == "p" or (row[-2] <= day and (row[-1] is None or day < row[-1]))
            ]
            for name, rows in self.rows.items()
        }


def stored(name: str, row: tuple) -> tuple:
    """The row as the table stores it."""
    if name == "p":
        return row
    since, until = at(row[-2]), None if row[-1] is None else at(row[-1])
    return (*row[:2], since, until) if name == "edges" else (row[0], since, *row[1:3], until)


def catalog() -> dict[str, Relation]:
    key = {"x": (0, 1), "y": (0, 1), "edges": (0, 1, 2), "p": None}
    schemas = {"x": TIMED, "y": TIMED, "edges": EDGES, "p": PLAIN}
    return {
        name: Relation(
            name,
            schema,
            Source(name, schema),
            key[name],
            period=None if name == "p" else (schema.index("valid_from"), schema.index("valid_to")),
        )
        for name, schema in schemas.items()
    }


def rows_of(engine: Engine, view: str, epoch: int) -> Counter:
    words, counts = engine.snapshot.rows(view, epoch)
    schema = engine.snapshot.schema(view)
    return Counter(dict(zip(decode_rows(words, schema, engine.dictionary), counts.tolist(), strict=True)))


def holding(rows: Counter, day: float) -> Counter:
    """The rows of a view that hold on a day."""
    found: Counter = Counter()
    for (*row, since, until), count in rows.items():
        if (since is None or _moment(since) <= at(day)) and (until is None or at(day) < _moment(until)):
            found[tuple(row)] += count
    return found


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


class Referee:
    """DuckDB over tables that are filled anew only where their rows are others."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        for name in ("x", "y"):
            self._connection.execute(f"CREATE TABLE {name} (k BIGINT, s TEXT, n BIGINT)")
        self._connection.execute("CREATE TABLE edges (a BIGINT, b BIGINT)")
        self._connection.execute("CREATE TABLE p (k BIGINT, t TEXT)")
        self._filled: dict[str, list[tuple]] = {name: [] for name in ("x", "y", "edges", "p")}

    def answer(self, view: str, tables: dict[str, list[tuple]]) -> Counter:
        """The answer to the view's query over what is valid."""
        for name, rows in tables.items():
            if rows != self._filled[name]:
                self._fill(name, rows)
        with_ = "".join(f"{name} AS ({VIEWS[name]}), " for name in INLINED.get(view, ()))
        query = FIXED[view][1] if view in FIXED else VIEWS[view]
        text = f"WITH {with_}answer AS ({query}) SELECT * FROM answer"
        return Counter(self._connection.execute(text).fetchall())

    def _fill(self, name: str, rows: list[tuple]) -> None:
        self._connection.execute(f"DELETE FROM {name}")
        if rows:
            places = f"({', '.join('?' * len(rows[0]))})"
            values = [value for row in rows for value in row]
            self._connection.execute(f"INSERT INTO {name} VALUES {', '.join([places] * len(rows))}", values)
        self._filled[name] = rows


@pytest.fixture(scope="module")
def referee() -> Referee:
    return Referee()


@each_seed(few(2))
def test_every_valid_time_has_duckdbs_answer(referee: Referee, seed: int) -> None:
    _check(referee, Engine(), random.Random(seed), set(VIEWS))


@each_seed(1)
def test_supersteps_have_the_same_answers(referee: Referee, seed: int, tmp_path: Path) -> None:
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    _check(referee, Mixed(executor, rng, 0.7), rng, {"joined", "grouped", "first", "reach", "reached"})
    assert executor.done


def _check(referee: Referee, engine: Engine, rng: random.Random, views: set[str]) -> None:
    known = catalog()
    for name, relation in known.items():
        engine.create_source(name, relation.schema, relation.key)
    tables = Tables(rng)
    history = []
    valid = []
    for _ in range(EPOCHS):
        history.append(tables.change())
        valid.append({day / 2: tables.valid(day / 2) for day in range(-1, 2 * DAYS + 1)})
    late = set(rng.sample(sorted(views), 5)) - {"reach", "grouped"}
    made = set()

    def create(names: set[str]) -> None:
        for name in (n for n in VIEWS if n in names):
            planned = plan_query(VIEWS[name], known)
            engine.create_view(name, planned.plan)
            known[name] = Relation(name, planned.schema, planned.plan, None, True, period=planned.period)
            made.add(name)

    create(views - late)
    done = 0
    while done < EPOCHS:
        size = min(rng.choice((1, 1, 2, 3)), EPOCHS - done)
        advance(engine, history[done : done + size])
        done += size
        if made != views and done > 3:
            create(late - made)
    create(late - made)
    for epoch in range(1, EPOCHS + 1):
        days = valid[epoch - 1]
        held = {view: rows_of(engine, view, epoch) for view in sorted(views, key=lambda view: view in FIXED)}
        for day, state in days.items():
            for view, rows in held.items():
                asked = state
                if view in FIXED:
                    table, _, then = FIXED[view]
                    asked = {**state, table: days[then][table]}
                found = rows if known[view].period is None else holding(rows, day)
                assert found == referee.answer(view, asked), (view, epoch, day)


def advance(engine: Engine, epochs: list[dict[str, list[tuple[tuple, int]]]]) -> None:
    """Publish some epochs in one stage."""
    first = engine.snapshot.upper
    deltas = {}
    for name in ("x", "y", "edges", "p"):
        lines = [
            (stored(name, row), first + place, diff)
            for place, changes in enumerate(epochs)
            for row, diff in changes[name]
        ]
        words = encode_rows([row for row, _, _ in lines], engine.snapshot.schema(name), engine.dictionary)
        tail = np.array([[epoch for _, epoch, _ in lines], [diff for _, _, diff in lines]], np.int64)
        deltas[name] = np.ascontiguousarray(np.concatenate([words, tail.reshape(2, -1)]))
    stage = engine.stage(deltas, first + len(epochs))
    assert not stage.failed, stage.failed
    stage.publish()
