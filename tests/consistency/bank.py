"""A bank: writers move money between accounts, and whoever looks, at any epoch, finds all of it.

Accounts are in two forms. Deltas move money between `entries`, two or three rows a transfer; their sum by
account is a view. Blocks of SQL move it between rows of `accounts`. No transfer changes a total, so no reader
may ever see another one, and the changefeed of the total says nothing after the deposit.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.consistency.line import Line

ACCOUNTS = 40
DEPOSIT = 1000
TOTAL = ACCOUNTS * DEPOSIT
SQL_EVERY = 50
"""One transfer in so many is a block of SQL."""
SETUP = (
    "CREATE TABLE entries (account BIGINT NOT NULL, amount BIGINT NOT NULL)",
    "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)",
    f"INSERT INTO entries SELECT i, {DEPOSIT} FROM generate_series(1, {ACCOUNTS}) AS s (i)",
    f"INSERT INTO accounts SELECT i, {DEPOSIT} FROM generate_series(1, {ACCOUNTS}) AS s (i)",
    "CREATE VIEW balances AS SELECT account, sum(amount)::BIGINT AS balance FROM entries GROUP BY account",
    "CREATE VIEW total AS SELECT sum(amount)::BIGINT AS total FROM entries",
    "CREATE VIEW held AS SELECT sum(balance)::BIGINT AS total FROM accounts",
    "CREATE VIEW both AS SELECT a.id, a.balance AS held, b.balance FROM accounts AS a"
    " JOIN balances AS b ON b.account = a.id",
)


@dataclass
class Teller:
    """A writer. It knows what its transfers have moved."""

    chance: random.Random
    transfers: int
    moved: Counter[int] = field(default_factory=Counter)
    held: Counter[int] = field(default_factory=Counter)
    epochs: list[int] = field(default_factory=list)

    def work(self, line: Line) -> None:
        for number in range(self.transfers):
            if number % SQL_EVERY:
                self.epochs.append(self._by_delta(line))
            else:
                self.epochs.append(self._by_sql(line))

    def _by_delta(self, line: Line) -> int:
        source, *targets = self.chance.sample(range(1, ACCOUNTS + 1), self.chance.choice((2, 2, 3)))
        amounts = {target: self.chance.randint(1, 100) for target in targets}
        amounts[source] = -sum(amounts.values())
        rows = [{"insert": {"account": a, "amount": amount}} for a, amount in amounts.items()]
        self.chance.shuffle(rows)
        epoch = line.post("/v1/tables/entries/deltas", rows)["epoch"]
        self.moved.update(amounts)
        return epoch

    def _by_sql(self, line: Line) -> int:
        source, target = self.chance.sample(range(1, ACCOUNTS + 1), 2)
        amount = self.chance.randint(1, 100)
        move = "UPDATE accounts SET balance = balance + {} WHERE id = {};"
        results = line.sql(f"BEGIN; {move.format(-amount, source)} {move.format(amount, target)} COMMIT")
        self.held.update({source: -amount, target: amount})
        return results[-1]["epoch"]


class Auditors:
    """Readers that look until they are told to stop, and remember every departure from the total."""

    def __init__(self, port: int) -> None:
        self.departures: list[str] = []
        self.looks: Counter[str] = Counter()
        self.seen: dict[int, int] = {}
        """Balances by account, as the changefeed tells them."""
        self._port = port
        self._ended = threading.Event()
        looks = (self._balances, self._total, self._both, self._by_sql)
        self._threads = [threading.Thread(target=self._repeat, args=(look,)) for look in looks]
        self._threads += [
            threading.Thread(target=follow, daemon=True) for follow in (self._follow, self._follow_total)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            if not thread.daemon:
                thread.join()

    def _repeat(self, look: Callable[[Line, random.Random], None]) -> None:
        chance = random.Random(look.__name__)
        try:
            with Line(self._port) as line:
                while not self._ended.is_set():
                    look(line, chance)
                    self.looks[look.__name__] += 1
        except Exception as error:
            self.departures.append(f"{look.__name__}: {error!r}")

    def _check(self, who: str, epoch: int, totals: Sequence[int]) -> None:
        if any(total != TOTAL for total in totals):
            self.departures.append(f"{who} at epoch {epoch}: {totals}, not {TOTAL}")

    def _balances(self, line: Line, chance: random.Random) -> None:
        """All balances now, then as of an earlier epoch."""
        epoch, rows = line.lines("/v1/views/balances/rows")
        self._check("balances", epoch, [sum(row["balance"] for row in rows)])
        earlier = chance.randint(2, epoch)
        epoch, rows = line.lines(f"/v1/views/balances/rows?as_of={earlier}")
        self._check("balances, earlier", epoch, [sum(row["balance"] for row in rows)])

    def _total(self, line: Line, chance: random.Random) -> None:
        for view in ("total", "held"):
            epoch, rows = line.lines(f"/v1/views/{view}/rows")
            self._check(view, epoch, [row["total"] for row in rows])

    def _both(self, line: Line, chance: random.Random) -> None:
        epoch, rows = line.lines("/v1/views/both/rows")
        self._check("both", epoch, [sum(row["held"] for row in rows), sum(row["balance"] for row in rows)])

    def _by_sql(self, line: Line, chance: random.Random) -> None:
        (result,) = line.sql(
            "SELECT (SELECT sum(balance) FROM accounts)::BIGINT, (SELECT total FROM total),"
            " (SELECT sum(amount) FROM entries)::BIGINT, (SELECT sum(balance) FROM balances)::BIGINT"
        )
        self._check("SQL", result["epoch"], result["rows"][0])

    def _follow(self) -> None:
        with Line(self._port) as line:
            for epoch, changes in line.feed("/v1/views/balances/changes?since=0"):
                for change in sorted(changes, key=lambda change: change["diff"]):
                    account, balance = change["row"].values()
                    if change["diff"] > 0:
                        self.seen[account] = balance
                    elif self.seen.pop(account, None) != balance:
                        self.departures.append(f"the feed takes back what it never said: {change}")
                self._check("the feed of balances", epoch, [sum(self.seen.values())])
                self.looks["_follow"] += 1

    def _follow_total(self) -> None:
        with Line(self._port) as line:
            for epoch, changes in line.feed("/v1/views/total/changes?since=0"):
                self._check(
                    "the feed of the total",
                    epoch,
                    [change["row"]["total"] for change in changes if change["diff"] > 0],
                )
                self.looks["_follow_total"] += 1
