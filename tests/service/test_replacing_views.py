"""CREATE OR REPLACE VIEW: one epoch that changes what differs, for the view and for all that read it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import duckdb
import pytest

from service.running.checkpoints import Checkpoints
from service.settings.settings import Settings
from tests.seeds import each_seed
from tests.service.test_altering import Shop
from tests.service.test_changes import changes

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


@each_seed(3)
@pytest.mark.parametrize("ends", ["clean", "crash"])
def test_every_epoch_has_the_rows_of_its_query(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, seed: int, ends: str
) -> None:
    """Also after starts, from files or from the log alone."""
    rng = random.Random(seed)
    shop = Shop(settings).__enter__()
    story = Story(shop, rng)
    for step in range(24):
        story.replace() if rng.random() < 0.25 else story.change()
        if step in (12, 18):
            finish: Callable = Checkpoints.finish if ends == "clean" or rng.random() < 0.3 else _nothing
            with monkeypatch.context() as patch:
                patch.setattr(Checkpoints, "finish", finish)
                shop.__exit__()
            story.shop = shop = Shop(settings).__enter__()
            story.check()
    story.check()
    shop.__exit__()
