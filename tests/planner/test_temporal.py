"""Views that ask for the time, against DuckDB with the time of the epoch in its place, at every epoch.

Histories are random: rows come and go, late and early, while the clock ticks, stands still and jumps, around
the ends of months of every length. The engine gets them epoch by epoch, all at once, and before the views.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pytest
import sqlglot
from sqlglot import exp

from engine.codec.json import encode_rows
from engine.plan.clocked import CLOCK, Temporal
from engine.plan.nodes import Join, Node, Source, nodes_of, sources_of
from engine.runtime.engine import Engine
from engine.schema import BIGINT, DATE, INTEGER, TIMESTAMP, Column, Schema
from planner import plan_query
from planner.errors import PlannerError
from planner.relation import Relation
from tests.property.check import values
from tests.property.duck import Bag, Failure, Referee, same
from tests.property.schemas import Table
from tests.seeds import seeds, steps

T = Table(
    "t",
    Schema((Column("id", BIGINT, False), Column("ts", TIMESTAMP), Column("d", DATE), Column("n", INTEGER))),
)
U = Table("u", Schema((Column("id", BIGINT, False), Column("ts2", TIMESTAMP), Column("d", DATE))))
TABLES = (T, U)
EPOCHS = steps(12)
SEEDS = 1

FILTERS = (
    "ts > now()",
    "ts >= now()",
    "now() > ts",
    "NOT ts < now()",
    "ts = now()",
    "ts <> now()",
    "ts > now() - INTERVAL '1 hour'",
    "ts + INTERVAL '1 day' > now()",
    "ts > now() - n * INTERVAL '1 hour'",
    "ts BETWEEN now() - INTERVAL '2 days' AND now() + INTERVAL '1 hour'",
    "ts NOT BETWEEN now() - INTERVAL '1 day' AND now()",
    "now() BETWEEN ts AND ts + INTERVAL '36 hours'",
    "ts > now() - INTERVAL '1 hour' AND ts <= now() AND n > 0",
    "ts > now() - INTERVAL '1 hour' OR n > 1",
    "CASE WHEN ts > now() THEN n > 0 ELSE n IS NULL END",
    "(ts > now()) IS NULL",
    "ts > now() AND d < current_date OR ts < now() AND d > current_date",
    "ts > localtimestamp - INTERVAL '90 seconds'",
    "ts::date = current_date",
    "d = current_date",
    "d <> current_date",
    "d >= current_date - 1",
    "d > current_date - INTERVAL '1 day'",
    "current_date - d > 1",
    "current_date - d BETWEEN 0 AND 2",
    "d - current_date <= n",
    "d > current_date - INTERVAL '1 month'",
    "d >= current_date - INTERVAL '1 month'",
    "d < current_date + INTERVAL '1 month'",
    "ts > current_date - INTERVAL '1 month 1 day'",
    "ts <= current_date + INTERVAL '3 months'",
    "ts > date_trunc('month', now())",
    "date_trunc('month', ts) = date_trunc('month', now())",
    "ts >= date_trunc('hour', now()) - INTERVAL '1 hour'",
    "ts >= date_trunc('month', current_date) - INTERVAL '1 day'",
    "now() - ts < INTERVAL '1 day'",
    "ts - now() >= INTERVAL '10 minutes'",
    "now() - ts < n * INTERVAL '1 day'",
    "extract(epoch FROM (now() - ts)) < 3600",
    "ts > now() AT TIME ZONE 'utc'",
    "ts AT TIME ZONE 'UTC' > now()",
    "ts > now() - '1 day'::interval",
    "ts > now() - make_interval(hours => 3)",
    "now() > TIMESTAMP '2024-02-29 12:00:00'",
    "ts > now() - INTERVAL '1 month'",
    "ts <= now() - INTERVAL '1 month'",
    "ts >= now() - INTERVAL '2 months 1 day'",
    "ts < now() + INTERVAL '1 month'",
    "ts BETWEEN now() - INTERVAL '1 month' AND now() + INTERVAL '1 month'",
    "(now() - INTERVAL '1 month')::date < d",
    "d IN (current_date, current_date - 1)",
    "extract(day FROM current_date) = n",
    "extract(year FROM d) = extract(year FROM current_date)",
)
QUERIES = (
    *(f"SELECT id, ts, d, n FROM t WHERE {condition}" for condition in FILTERS),
    "SELECT id, ts > now() AS ahead, ts <= now() - INTERVAL '1 day' AS old FROM t",
    "SELECT id, current_date - d AS age, current_date AS today FROM t",
    "SELECT current_date AS today",
    "SELECT n, count(*) AS c, min(ts) AS m FROM t WHERE ts > now() - INTERVAL '1 day' GROUP BY n",
    "SELECT count(*) AS c, count(ts) AS k FROM t WHERE ts > now()",
    "SELECT n, count(*) FILTER (WHERE ts > now()) AS c, count(*) AS k FROM t GROUP BY n",
    "SELECT n, max(ts) AS m FROM t GROUP BY n HAVING max(ts) < now() - INTERVAL '1 hour'",
    "SELECT t.id, u.ts2 FROM t JOIN u ON t.id = u.id AND u.ts2 > now() - INTERVAL '1 day'",
    "SELECT t.id, u.ts2 FROM t JOIN u ON t.id = u.id AND u.ts2 > now() - t.n * INTERVAL '1 day'",
    "SELECT t.id, t.n, u.ts2 FROM t LEFT JOIN u ON t.id = u.id AND u.ts2 > now()",
    "SELECT t.id, t.n, u.ts2 FROM t LEFT JOIN u ON t.id = u.id AND t.ts < now()",
    "SELECT t.id, u.id AS o FROM t FULL JOIN u ON t.id = u.id AND u.ts2 < now() AND t.ts > now()",
    "SELECT t.id, t.ts FROM t JOIN u ON t.d = u.d AND t.d = current_date",
    "SELECT t.id, t.ts FROM t JOIN u ON u.d = current_date - t.n",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND u.ts2 > now())",
    "SELECT id FROM t WHERE id NOT IN (SELECT id FROM u WHERE ts2 > now())",
    "SELECT id, (SELECT count(*) FROM u WHERE u.id = t.id AND u.ts2 > now()) AS c FROM t",
    "SELECT DISTINCT n FROM t WHERE ts < now()",
    "SELECT id FROM t WHERE ts < now() UNION ALL SELECT id FROM u WHERE ts2 > now()",
    "SELECT id FROM t EXCEPT SELECT id FROM u WHERE ts2 > now()",
    "WITH live AS (SELECT * FROM t WHERE ts > now()) SELECT a.id, b.n FROM live a JOIN live b ON a.id = b.id",
    "WITH c AS (SELECT now() - INTERVAL '1 day' AS edge) SELECT id FROM t, c WHERE ts > c.edge",
    "WITH c AS (SELECT now() AS edge) SELECT id FROM t, c WHERE ts > c.edge UNION ALL SELECT id FROM u JOIN c"
    " ON ts2 < edge",
    "SELECT id FROM t WHERE ts > (SELECT now() - INTERVAL '1 day')",
    "WITH RECURSIVE r AS (SELECT id, n FROM t WHERE ts > now() UNION SELECT u.id, r.n FROM r JOIN u ON"
    " u.id = r.id + 1 AND u.ts2 < now()) SELECT * FROM r",
    "WITH RECURSIVE r AS (SELECT id, ts FROM t UNION SELECT u.id, r.ts FROM r JOIN u ON u.id = r.id + 1"
    " WHERE r.ts > now() - INTERVAL '1 day') SELECT * FROM r",
)
DIALECTS = (
    ("snowflake", "SELECT id FROM t WHERE ts > DATEADD(day, -1, CURRENT_TIMESTAMP())"),
    ("snowflake", "SELECT id FROM t WHERE DATEDIFF('day', ts, CURRENT_TIMESTAMP()) <= 1"),
    ("snowflake", "SELECT id FROM t WHERE DATEDIFF('month', ts, CURRENT_DATE()) = 0"),
    ("bigquery", "SELECT id FROM t WHERE d >= DATE_SUB(CURRENT_DATE(), INTERVAL 1 DAY)"),
    ("bigquery", "SELECT id FROM t WHERE DATE_DIFF(CURRENT_DATE(), d, DAY) < 2"),
    ("spark", "SELECT id FROM t WHERE ts > current_timestamp() - INTERVAL 1 DAY"),
    ("spark", "SELECT id FROM t WHERE d >= date_sub(current_date(), 2)"),
    ("spark", "SELECT id FROM t WHERE datediff(current_date(), d) BETWEEN 0 AND 1"),
    ("spark", "SELECT id FROM t WHERE d > add_months(current_date(), -1)"),
    ("mysql", "SELECT id FROM t WHERE ts > DATE_SUB(NOW(), INTERVAL 1 DAY)"),
    ("mysql", "SELECT id FROM t WHERE TIMESTAMPDIFF(HOUR, ts, NOW()) < 5"),
    ("tsql", "SELECT id FROM t WHERE ts > DATEADD(hour, -12, GETDATE())"),
    ("tsql", "SELECT id FROM t WHERE CAST(ts AS DATE) = CAST(GETDATE() AS DATE)"),
    ("materialize", "SELECT id FROM t WHERE mz_now() <= ts + INTERVAL '1 day'"),
    ("duckdb", "SELECT id FROM t WHERE date_diff('day', ts, now()) = 1"),
    ("duckdb", "SELECT id FROM t WHERE date_diff('hour', now(), ts) <> -1"),
    ("duckdb", "SELECT id FROM t WHERE date_diff('quarter', now(), ts) < 0"),
    ("duckdb", "SELECT id FROM t WHERE d >= today() - 1 AND ts < get_current_timestamp()"),
)
REFUSED = (
    "SELECT now() AS now FROM t",
    "SELECT now() - ts AS age FROM t",
    "SELECT extract(epoch FROM now()) AS s FROM t",
    "SELECT id FROM t WHERE extract(hour FROM now()) = n",
    "SELECT id FROM t WHERE extract(minute FROM now() - ts) = n",
    "SELECT max(now()) AS m FROM t",
)


@dataclass(frozen=True)
class History:
    """Changes of the tables as (row, epoch, diff), and the time of each epoch."""

    changes: dict[str, list[tuple[tuple, int, int]]]
    times: list[datetime]

    def bag(self, table: str, epoch: int) -> Bag:
        bag: Bag = Counter()
        for row, at, diff in self.changes[table]:
            if at <= epoch:
                bag[row] += diff
        return +bag

    def delta(self, source: Source, engine: Engine, low: int, high: int) -> np.ndarray:
        """The changes of a source at epochs from `low` up to `high`."""
        lines = [line for line in self._lines(source.name) if low <= line[1] <= high]
        words = encode_rows([row for row, _, _ in lines], source.schema, engine.dictionary)
        tail = np.array([[epoch, diff] for _, epoch, diff in lines], np.int64).reshape(-1, 2).T
        return np.ascontiguousarray(np.concatenate((words, tail)))

    def _lines(self, name: str) -> list[tuple[tuple, int, int]]:
        if name != CLOCK.name:
            return self.changes[name]
        pairs = list(zip([None, *self.times], self.times, strict=False))
        gone = [((old.isoformat(),), epoch, -1) for epoch, (old, _) in enumerate(pairs, 1) if old]
        return gone + [((new.isoformat(),), epoch, 1) for epoch, (_, new) in enumerate(pairs, 1)]


def random_history(rng: random.Random) -> History:
    now = datetime(2024, rng.choice((1, 2, 3, 4, 12)), 28, rng.randrange(24))
    moments: list[datetime] = []
    times: list[datetime] = []
    for _ in range(EPOCHS):
        times.append(now)
        moments += [now, now - timedelta(microseconds=1), now + timedelta(days=1), now - timedelta(hours=1)]
        now += rng.choice((timedelta(0), timedelta(minutes=1), timedelta(hours=6), timedelta(hours=29)))
    moments += [m + timedelta(days=days) for m in moments for days in (-31, -30, 28, 31, 60)]
    changes: dict[str, list[tuple[tuple, int, int]]] = {table.name: [] for table in TABLES}
    for table in TABLES:
        alive: list[tuple] = []
        for epoch in range(1, EPOCHS + 1):
            for _ in range(rng.randrange(9 if epoch == 1 else 5)):
                if alive and rng.random() < 0.4:
                    changes[table.name].append((alive.pop(rng.randrange(len(alive))), epoch, -1))
                else:
                    alive.append(tuple(_value(rng, column, moments) for column in table.schema.columns))
                    changes[table.name].append((alive[-1], epoch, 1))
    return History(changes, times)


def _value(rng: random.Random, column: Column, moments: Sequence[datetime]) -> object:
    if column.nullable and rng.random() < 0.1:
        return None
    moment = rng.choice(moments)
    match column.type:
        case type if type == TIMESTAMP:
            return moment.replace(hour=0) if rng.random() < 0.1 else moment
        case type if type == DATE:
            return moment.date()
        case type if type == INTEGER:
            return rng.randrange(4)
    return rng.randrange(5)


def at(sql: str, dialect: str, now: datetime) -> str:
    """The query in DuckDB's SQL, with the time in place of what asks for it."""
    names = {"now", "get_current_timestamp", "mz_now"}

    def written(node: exp.Expression) -> exp.Expression:
        name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, exp.CurrentDate) or name == "today":
            return exp.cast(exp.Literal.string(now.date().isoformat()), "DATE")
        if isinstance(node, exp.CurrentTimestamp | exp.Localtimestamp) or name in names:
            return exp.cast(exp.Literal.string(now.isoformat(sep=" ")), "TIMESTAMP")
        return node

    return sqlglot.parse_one(sql, read=dialect).transform(written).sql("duckdb")


def planned(sql: str, dialect: str = "postgres") -> Node:
    catalog = {t.name: Relation(t.name, t.schema, Source(t.name, t.schema), None) for t in TABLES}
    return plan_query(sql, catalog, dialect).plan


def answers(
    history: History,
    plan: Node,
    cuts: Sequence[int],
    created: int,
    epochs: int = EPOCHS,
    make: Callable[[], Engine] = Engine,
) -> list[Bag]:
    """The view at every epoch, of a history cut after the epochs `cuts`, the view being created after one."""
    engine = make()
    sources = [Source(table.name, table.schema) for table in TABLES] + [CLOCK]
    for source in sources:
        engine.create_source(source.name, source.schema)
    for low, high in zip((0, *cuts), (*cuts, epochs), strict=True):
        if low == created:
            engine.create_view("v", plan)
        engine.stage({s.name: history.delta(s, engine, low + 1, high) for s in sources}, high + 1).publish()
    if created == epochs:
        engine.create_view("v", plan)
    found = []
    for epoch in range(1, epochs + 1):
        assert not engine.snapshot.errors("v", epoch)
        words, counts = engine.snapshot.rows("v", epoch)
        rows = values(words, engine.snapshot.schema("v"), engine)
        found.append(Counter(dict(zip(rows, counts.tolist(), strict=True))))
    return found


@pytest.fixture(scope="module")
def histories() -> list[History]:
    return [random_history(random.Random(seed)) for seed in seeds(SEEDS)]


def check(sql: str, dialect: str, histories: Sequence[History]) -> None:
    plan = planned(sql, dialect)
    assert CLOCK in sources_of(plan)
    for history in histories:
        referee = Referee(TABLES)
        expected: list[Bag] = []
        for epoch, now in enumerate(history.times, 1):
            referee.load({table.name: history.bag(table.name, epoch) for table in TABLES})
            answer = referee.answer(at(sql, dialect, now))
            assert not isinstance(answer, Failure)
            expected.append(answer)
        referee.close()
        for cuts, created in ((range(1, EPOCHS), 0), ((4,), 4)):
            found = answers(history, plan, cuts, created)
            for epoch, (wanted, rows) in enumerate(zip(expected, found, strict=True), 1):
                assert same(wanted, rows), (epoch, history.times[epoch - 1], wanted - rows, rows - wanted)


@pytest.mark.parametrize("sql", QUERIES)
def test_views_change_as_time_passes(sql: str, histories: list[History]) -> None:
    check(sql, "postgres", histories)


@pytest.mark.parametrize(("dialect", "sql"), DIALECTS)
def test_every_dialect_has_the_time(dialect: str, sql: str, histories: list[History]) -> None:
    check(sql, dialect, histories)


@pytest.mark.parametrize(("months", "op"), [(-13, "<"), (-1, ">="), (1, "<"), (3, ">=")])
def test_months_are_as_long_as_they_are(months: int, op: str) -> None:
    """Every sixth hour around the ends of months, while the clock goes on by five hours a time."""
    start = datetime(2024, 2, 25, 1)
    times = [start + timedelta(hours=5 * n) for n in range(180)]
    away = [
        datetime(2024 + (1 + months) // 12, (1 + months) % 12 + 1, 20) + timedelta(hours=6 * n)
        for n in range(190)
    ]
    history = History({"t": [((n, ts, None, 0), 1, 1) for n, ts in enumerate(away)], "u": []}, times)
    sql = f"SELECT id FROM t WHERE now() + INTERVAL '{months} months' {op} ts"
    found = answers(history, planned(sql), (90,), 0, len(times))
    referee = Referee(TABLES)
    referee.load({table.name: history.bag(table.name, 1) for table in TABLES})
    for now, rows in zip(times, found, strict=True):
        assert referee.answer(at(sql, "postgres", now)) == rows, now
    referee.close()
    assert len({tuple(sorted(rows)) for rows in found}) > 100


@pytest.mark.parametrize("sql", REFUSED)
def test_the_time_itself_is_not_shown(sql: str) -> None:
    with pytest.raises(PlannerError, match=r"now\(\)|not supported"):
        planned(sql)


@pytest.mark.parametrize("append_only", [True, False])
def test_rows_wait_for_the_greatest_time_of_a_table_that_only_grows(append_only: bool) -> None:
    """Otherwise the time may go back, and the comparison is a join like any other."""
    schema = Schema((Column("id", BIGINT), Column("at", TIMESTAMP)))
    known = {"t": Relation("t", schema, Source("t", schema, append_only))}
    for sql in (
        "SELECT id FROM t WHERE at <= (SELECT max(at) FROM t)",
        "SELECT id FROM t WHERE (SELECT max(at) FROM t) >= at",
    ):
        found = {type(node) for node in nodes_of(plan_query(sql, known).plan)}
        assert (Temporal in found, Join in found) == (append_only, not append_only)
