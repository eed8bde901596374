"""A recorded history: clients that append to lists and read them, through every door of a service.

A list is the rows of one key, in two tables. Deltas append to several lists at once; a block of SQL reads
lists and then appends. A view and its past have the values of a list without an order; a table's changefeed
has them in the order of epochs.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tests.consistency.history import History, Key, Read, Transaction, Value
from tests.consistency.line import Line

KEYS = 8
CLIENTS = 8
TABLES = ("evens", "odds")
SETUP = (
    "CREATE TABLE evens (list BIGINT NOT NULL, value BIGINT NOT NULL)",
    "CREATE TABLE odds (list BIGINT NOT NULL, value BIGINT NOT NULL)",
    "CREATE VIEW lists AS SELECT list, array_agg(value) AS items"
    " FROM (SELECT * FROM evens UNION ALL SELECT * FROM odds) AS rows GROUP BY list",
    "CREATE VIEW lengths AS SELECT l.list, count(*) AS n FROM lists AS l JOIN odds AS o ON o.list = l.list"
    " GROUP BY l.list",
)


def table_of(key: Key) -> str:
    return TABLES[key % 2]


class Recorder:
    """Clients of one service, and what they have seen."""

    def __init__(self, port: int, seed: int) -> None:
        self.history: History = []
        self._port = port
        self._seed = seed
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def record(self, transactions: int) -> History:
        """Runs so many transactions at once, then reads everything once more."""
        with Line(self._port) as line:
            for statement in SETUP:
                line.sql(statement)
        with ThreadPoolExecutor(CLIENTS) as threads:
            list(threads.map(self._client, range(CLIENTS), [transactions // CLIENTS] * CLIENTS))
        with Line(self._port) as line:
            for table in TABLES:
                self._read_feed(line, table)
            self._read_view(line)
        return self.history

    def _client(self, number: int, transactions: int) -> None:
        chance = random.Random(f"{self._seed} {number}")
        with Line(self._port) as line:
            for _ in range(transactions):
                kind = chance.random()
                if kind < 0.4:
                    self._append_by_delta(line, chance)
                elif kind < 0.65:
                    self._read_and_append_by_sql(line, chance)
                elif kind < 0.8:
                    self._read_view(line)
                elif kind < 0.9:
                    self._read_feed(line, chance.choice(TABLES))
                else:
                    self._read_the_past(line, chance)

    def _append_by_delta(self, line: Line, chance: random.Random) -> None:
        number, appends = self._new(chance)
        tables: dict[str, list] = {}
        for key, value in appends.items():
            tables.setdefault(table_of(key), []).append({"insert": {"list": key, "value": value}})
        began = time.monotonic_ns()
        epoch = line.post("/v1/deltas", {"tables": tables})["epoch"]
        self._note(Transaction(number, began, time.monotonic_ns(), appends, epoch=epoch))

    def _read_and_append_by_sql(self, line: Line, chance: random.Random) -> None:
        number, appends = self._new(chance)
        keys = chance.sample(range(KEYS), 2)
        script = ["BEGIN", *(f"SELECT value FROM {table_of(k)} WHERE list = {k}" for k in keys)]
        script += [f"INSERT INTO {table_of(k)} VALUES ({k}, {v})" for k, v in appends.items()]
        began = time.monotonic_ns()
        results = line.sql("; ".join([*script, "COMMIT"]))
        ended = time.monotonic_ns()
        reads = {
            key: Read(tuple(value for (value,) in result["rows"]), False)
            for key, result in zip(keys, results[1:], strict=False)
        }
        self._note(Transaction(number, began, ended, appends, reads, epoch=results[-1]["epoch"]))

    def _read_view(self, line: Line) -> None:
        began = time.monotonic_ns()
        epoch, rows = line.lines("/v1/views/lists/rows")
        self._note_read(began, _all({row["list"]: row["items"] for row in rows}, range(KEYS), False), epoch)

    def _read_the_past(self, line: Line, chance: random.Random) -> None:
        began = time.monotonic_ns()
        epoch = chance.randint(0, line.get("/v1/status")["epoch"])
        _, rows = line.lines(f"/v1/views/lists/rows?as_of={epoch}")
        reads = _all({row["list"]: row["items"] for row in rows}, range(KEYS), False)
        self._note_read(began, reads, epoch, is_of_the_past=True)

    def _read_feed(self, line: Line, table: str) -> None:
        began = time.monotonic_ns()
        epoch, changes = line.lines(f"/v1/tables/{table}/changes?since=0")
        found: dict[Key, list[Value]] = defaultdict(list)
        for change in changes:
            found[change["row"]["list"]].append(change["row"]["value"])
        keys = [key for key in range(KEYS) if table_of(key) == table]
        self._note_read(began, _all(found, keys, True), epoch)

    def _new(self, chance: random.Random) -> tuple[int, dict[Key, Value]]:
        """A number, and values that nobody else appends."""
        number = next(self._numbers)
        return number, dict.fromkeys(chance.sample(range(KEYS), chance.randint(1, 3)), number)

    def _note_read(
        self, began: int, reads: dict[Key, Read], epoch: int, is_of_the_past: bool = False
    ) -> None:
        ended = time.monotonic_ns()
        number = next(self._numbers)
        self._note(Transaction(number, began, ended, reads=reads, is_of_the_past=is_of_the_past, epoch=epoch))

    def _note(self, transaction: Transaction) -> None:
        with self._lock:
            self.history.append(transaction)


def _all(found: dict[Key, list[Value]], keys: Iterable[Key], is_ordered: bool) -> dict[Key, Read]:
    """Reads of all the lists, also of those that are empty."""
    return {key: Read(tuple(found.get(key, ())), is_ordered) for key in keys}
