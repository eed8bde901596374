"""CREATE OR REPLACE VIEW: one epoch that changes what differs, for the view and for all that read it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import duckdb
import pytest

from service.running.checkpoints import Checkpoints
from service.settings.settings import Settings
from tests.seeds import each_seed, few, steps
from tests.service.client import code
from tests.service.test_altering import Shop
from tests.service.test_changes import changes
from tests.service.waiting import wait_until

TABLES = """
    CREATE TABLE t (k INTEGER PRIMARY KEY, g INTEGER, x INTEGER);
    CREATE TABLE u (g INTEGER, name TEXT);
"""
BASES = (
    "SELECT k, g, x FROM t",
    "SELECT k, g, x FROM t WHERE x > 2",
    "SELECT k, g, x * 2 AS x FROM t",
    "SELECT t.k, t.g, t.x FROM t JOIN u ON u.g = t.g",
    "SELECT k, g, x FROM t UNION SELECT 100, 1, 1",
    "SELECT k, g, x, x + 1 AS more FROM t",
    "SELECT x, k, g FROM t",
)
SUMS = (
    "SELECT g, sum(x) AS s, count(*) AS n FROM base GROUP BY g",
    "SELECT g, CAST(max(x) AS BIGINT) AS s, count(*) AS n FROM base GROUP BY g",
    "SELECT g, sum(x) AS s, count(DISTINCT x) AS n FROM base WHERE k > 2 GROUP BY g",
)
TOP = "SELECT s.g, s.n, u.name FROM sums s LEFT JOIN u ON u.g = s.g WHERE s.n > 0"
ROWS = ("t", "u")


def from_scratch(rows: dict[str, list[tuple]], queries: dict[str, str]) -> dict[str, Counter]:
    """What DuckDB answers over these rows."""
    with duckdb.connect() as duck:
        duck.execute(TABLES)
        for name, lines in rows.items():
            if lines:
                duck.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(lines[0]))})", lines)
        for name, query in queries.items():
            duck.execute(f"CREATE VIEW {name} AS {query}")
        return {name: Counter(duck.execute(f"FROM {name}").fetchall()) for name in queries}


class Story:
    """A service whose views are replaced while rows change. `told` has the views of each epoch, as a service
    that begins there would have them."""

    def __init__(self, shop: Shop, rng: random.Random) -> None:
        self.shop, self.rng = shop, rng
        self.queries = {"base": BASES[0], "sums": SUMS[0], "top": TOP}
        self.told: dict[int, dict[str, Counter]] = {}
        self.keys = 0
        shop.results(TABLES)
        for name, query in self.queries.items():
            shop.results(f"CREATE VIEW {name} AS {query}")
        self.note()

    def rows(self, name: str, epoch: int | None = None) -> list[tuple]:
        of = "" if epoch is None else f" VERSION AS OF {epoch}"
        return [tuple(row) for row in self.shop.select(f"SELECT * FROM {name}{of}")]

    def note(self) -> None:
        epoch = self.shop.runtime.snapshot.upper - 1
        self.told[epoch] = from_scratch({name: self.rows(name) for name in ROWS}, self.queries)

    def change(self) -> None:
        rng, shop = self.rng, self.shop
        match rng.randrange(4):
            case 0:
                shop.results(f"DELETE FROM t WHERE k % 5 = {rng.randrange(5)}")
            case 1:
                shop.results(f"INSERT INTO u VALUES ({rng.randrange(4)}, 'n{rng.randrange(3)}')")
            case 2:
                shop.results(f"DELETE FROM u WHERE g = {rng.randrange(4)}")
            case _:
                lines = []
                for _ in range(rng.randrange(1, 4)):
                    self.keys += 1
                    x = rng.choice(["NULL", "0", "3", "7"])
                    lines.append(f"({self.keys}, {rng.randrange(4)}, {x})")
                shop.results(f"INSERT INTO t VALUES {', '.join(lines)}")
        self.note()

    def replace(self) -> None:
        name, queries = self.rng.choice([("base", BASES), ("sums", SUMS)])
        self.queries[name] = self.rng.choice(queries)
        self.shop.results(f"CREATE OR REPLACE VIEW {name} AS {self.queries[name]}")
        self.note()

    def check(self, names: tuple[str, ...] = ("sums", "top")) -> None:
        for epoch, views in self.told.items():
            for name in names:
                assert Counter(self.rows(name, epoch)) == views[name], (name, epoch, self.queries)
        newest = self.told[max(self.told)]
        assert Counter(self.rows("base")) == newest["base"]
        for name in names:
            self.check_changes(name)

    def check_changes(self, name: str) -> None:
        """The changes of each epoch add up to its rows."""
        first = min(self.told)
        there = Counter(self.told[first][name])
        found: dict[int, list[tuple]] = {}
        for epoch, *change in changes(self.shop, f"/v1/views/{name}/changes", since=first):
            found.setdefault(epoch, []).append(tuple(change))
        for epoch in sorted(self.told)[1:]:
            for diff, *row in found.pop(epoch, []):
                there[tuple(row)] += diff
            assert +there == self.told[epoch][name] and min(there.values(), default=0) >= 0, (name, epoch)
        assert not found


def _nothing(checkpoints: Checkpoints) -> None:
    """A crash leaves no checkpoint."""


@each_seed(few(3))
@pytest.mark.parametrize("ends", ["clean", "crash"])
def test_every_epoch_has_the_rows_of_its_query(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, seed: int, ends: str
) -> None:
    """Also after starts, from files or from the log alone."""
    rng = random.Random(seed)
    shop = Shop(settings).__enter__()
    story = Story(shop, rng)
    length = steps(24)
    for step in range(length):
        story.replace() if rng.random() < 0.25 else story.change()
        if step in (length // 2, 3 * length // 4):
            finish: Callable = Checkpoints.finish if ends == "clean" or rng.random() < 0.3 else _nothing
            with monkeypatch.context() as patch:
                patch.setattr(Checkpoints, "finish", finish)
                shop.__exit__()
            story.shop = shop = Shop(settings).__enter__()
            story.check()
    story.check()
    shop.__exit__()


REPLACED = """
    CREATE TABLE t (k INTEGER PRIMARY KEY, x INTEGER); CREATE TABLE u (k INTEGER);
    CREATE VIEW base AS SELECT t.k, t.x FROM t JOIN u ON u.k = t.k;
    CREATE VIEW sums AS SELECT sum(x) AS s FROM base;
    INSERT INTO t VALUES (1, 10), (2, 20); INSERT INTO u VALUES (1);
    CREATE OR REPLACE VIEW base AS SELECT k, x FROM t
"""


@pytest.fixture
def replaced(settings: Settings) -> Iterator[Shop]:
    """A service where `sums` was 10 before its newest epoch, and is 30 since."""
    with Shop(settings) as shop:
        shop.results(REPLACED)
        yield shop


def told(shop: Shop, name: str = "sums") -> list[object]:
    """The sums before the view was replaced, and now; None where they cannot be told."""
    epoch = next(
        it.details.former[-1].until for it in shop.runtime.definitions().values() if it.details.former
    )
    answer = shop.post("/v1/sql", {"sql": f"SELECT s FROM {name} VERSION AS OF {epoch - 1}"})
    before = answer.json()["results"][0]["rows"][0][0] if answer.status_code == 200 else None
    return [before, shop.select(f"SELECT s FROM {name}")[0][0]]


def test_what_was_is_told_after_alterations(replaced: Shop) -> None:
    assert told(replaced) == [10, 30]
    replaced.results("ALTER TABLE t ADD COLUMN z INTEGER DEFAULT 1; ALTER TABLE t RENAME COLUMN x TO y")
    assert told(replaced) == [10, 30]
    replaced.results("ALTER TABLE t RENAME TO things; ALTER VIEW base RENAME TO ground")
    assert told(replaced) == [10, 30]
    replaced.results("ALTER VIEW sums RENAME TO total; CREATE SCHEMA s; ALTER TABLE u SET SCHEMA s")
    assert told(replaced, "total") == [10, 30]
    replaced.results("ALTER SCHEMA s RENAME TO r; INSERT INTO things VALUES (3, 5, 0)")
    assert told(replaced, "total") == [10, 35]


def test_what_nobody_can_tell_any_more_is_not_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of the old query is gone, and another has its name: after a crash nobody knows the old rows."""
    with monkeypatch.context() as patch, Shop(settings) as shop:
        patch.setattr(Checkpoints, "finish", _nothing)
        shop.results(REPLACED)
        shop.results("DROP TABLE u; CREATE TABLE u (k INTEGER); INSERT INTO u VALUES (2)")
        assert told(shop) == [10, 30]
    with Shop(settings) as shop:
        assert told(shop) == [None, 30]


def test_questions_about_the_old_query_are_refused(replaced: Shop) -> None:
    epoch = replaced.runtime.snapshot.upper - 1
    replaced.results("INSERT INTO t VALUES (3, 5)")
    assert replaced.get("/v1/views/sums/why", row='{"s": 35}').status_code == 200
    assert code(replaced.get("/v1/views/sums/why", row='{"s": 10}', as_of=epoch - 1)) == (410, "history_gone")
    assert code(replaced.get("/v1/views/sums/replay", as_of=epoch)) == (410, "history_gone")
    assert replaced.get("/v1/views/sums/replay", as_of=epoch + 1).status_code == 200
    assert replaced.get("/v1/views/sums/plan", stage="analyze").status_code == 200
    assert replaced.post("/v1/views/sums/check", {}).json()["equal"]


def test_an_index_tells_nothing_of_the_old_query(replaced: Shop) -> None:
    epoch = replaced.runtime.snapshot.upper - 1
    replaced.results("CREATE INDEX i ON base (x)")
    assert replaced.select("SELECT k FROM base WHERE x = 20") == [[2]]
    assert replaced.select(f"SELECT k FROM base VERSION AS OF {epoch - 1} WHERE x = 20") == []
    replaced.results("CREATE OR REPLACE VIEW base AS SELECT k, x FROM t WHERE k = 1")
    wait_until(lambda: "lookup" in str(replaced.select("EXPLAIN SELECT k FROM base WHERE x = 20")))
    assert replaced.select("SELECT k FROM base WHERE x = 20") == []
    assert replaced.select(f"SELECT k FROM base VERSION AS OF {epoch} WHERE x = 20") == [[2]]


def test_a_view_over_a_replaced_one_begins_with_it(replaced: Shop) -> None:
    """Its query at an earlier epoch is one over the rows of that epoch, which the new plan does not have."""
    epoch = replaced.runtime.snapshot.upper - 1
    replaced.results("CREATE VIEW late AS SELECT count(*) AS s FROM base")
    assert replaced.select("SELECT s FROM late") == [[2]]
    answer = replaced.post("/v1/sql", {"sql": f"SELECT s FROM late VERSION AS OF {epoch - 1}"})
    assert code(answer) == (410, "history_gone")


def test_everything_may_go_and_come_again(replaced: Shop) -> None:
    replaced.results("DELETE FROM t; CREATE OR REPLACE VIEW base AS SELECT k, x FROM t WHERE x IS NULL")
    assert replaced.rows("sums") == [(None,)]
    replaced.results("INSERT INTO t VALUES (1, NULL), (2, 3)")
    assert replaced.rows("base") == [(1, None)]
    for _ in range(3):
        replaced.results("CREATE OR REPLACE VIEW base AS SELECT k, x FROM t")
        assert sorted(replaced.rows("base")) == [(1, None), (2, 3)]
        replaced.results("CREATE OR REPLACE VIEW base AS SELECT k, x FROM t WHERE x IS NULL")
        assert replaced.rows("base") == [(1, None)] and replaced.rows("sums") == [(None,)]
