"""Clients that define while a service dies: views and tables, and keys. The audit log has a line for each.

None of these calls is sent again once the service may have begun with it, so of at most one a client does not
know whether it took effect.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from freshet import Connection, Error, KeyDescription, MadeKey, UnauthorizedError
from tests.service.door import Door
from tests.service.mixed_load import is_gone

GROUPS = "SELECT writer, count(*) AS n, sum(value) AS total FROM items GROUP BY writer"
REACH = """
    WITH RECURSIVE reach (a, b) AS (
        SELECT a, b FROM edges UNION SELECT reach.a, edges.b FROM reach JOIN edges ON edges.a = reach.b
    ) SELECT a, b FROM reach
"""
VIEWS = {"groups": GROUPS, "reach": REACH}
"""Views that are there all the time."""
_PASSING = (
    "SELECT writer, max(value) AS most FROM items GROUP BY writer",
    "SELECT a, count(*) AS n FROM edges GROUP BY a HAVING count(*) > 1",
    "SELECT i.id, e.b FROM items AS i JOIN edges AS e ON e.a = i.value % 12",
    "SELECT value FROM items EXCEPT SELECT a FROM edges",
    "SELECT id, row_number() OVER (PARTITION BY writer ORDER BY id) AS place FROM items",
    "SELECT count(*) AS n, sum(total)::BIGINT AS total FROM groups",
    "SELECT a, count(*) AS n FROM reach GROUP BY a HAVING count(*) > 3",
)
"""Views that come and go."""
T = TypeVar("T")
MOST = 3
"""Views, tables or keys of a client; one that has more removes some."""
PROBED = 4
"""Texts of keys that are tried after a death."""


@dataclass
class Definer:
    """A client that acts, one action after the other."""

    chance: random.Random
    acted: Counter[str] = field(default_factory=Counter)
    """The actions that were acknowledged, as the audit log has them."""
    open: str | None = None
    """The action that was sent and not acknowledged."""
    doubtful: Counter[str] = field(default_factory=Counter)
    """The actions of which nobody knows whether they took effect."""
    requests: int = 0
    is_stopped: bool = False

    def work(self, door: Door) -> None:
        """Acts until it is stopped, or a request fails."""
        with door.connect() as db:
            while not self.is_stopped:
                self.requests += 1
                try:
                    self.act(db)
                except Error as error:
                    if is_gone(error):
                        return
                    raise

    def act(self, db: Connection) -> None:
        raise NotImplementedError

    def done(self, action: str, send: Callable[[], T]) -> T:
        """Sends an action and records it as acknowledged."""
        self.open = action
        answer = send()
        self.acted[action] += 1
        self.open = None
        return answer

    def settle_actions(self, recorded: Counter[str]) -> None:
        """Each action that was acknowledged has one line in the audit log, any other at most one."""
        if self.open is not None:
            self.doubtful[self.open] += 1
            self.open = None
        for action in self.acted | self.doubtful:
            least = self.acted[action]
            assert least <= recorded[action] <= least + self.doubtful[action], (action, recorded[action])


class RelationDefiner(Definer):
    """Makes and drops views and tables, whose names are never used again."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.views: dict[str, str] = {}
        self.tables: set[str] = set()
        self._touched: tuple[str, str] = ("", "")

    def act(self, db: Connection) -> None:
        kind = self.chance.choice(("views", "tables"))
        known = sorted(self.views if kind == "views" else self.tables)
        if len(known) > MOST:
            self._drop(db, kind, self.chance.choice(known))
        elif kind == "tables":
            name = f"passing_{self.requests}"
            self._touched = kind, name
            self.done(f"create table {name}", lambda: db.table(name).create({"a": "BIGINT"}))
            self.tables.add(name)
        else:
            name, sql = f"passing_{self.requests}", self.chance.choice(_PASSING)
            self._touched = kind, name
            self.views[name] = sql
            self.done(f"create view {name}", lambda: db.create_view(name, sql))

    def _drop(self, db: Connection, kind: str, name: str) -> None:
        self._touched = kind, name
        relation = db.view(name) if kind == "views" else db.table(name)
        self.done(f"DELETE /v1/{kind}/{name}", relation.drop)
        self._forget(kind, name)

    def settle(self, views: set[str], tables: set[str]) -> None:
        """Compares what it knows with what there is; what was open may be there or not."""
        kind, name = self._touched if self.open is not None else ("", "")
        for known, found, of in ((set(self.views), views, "views"), (self.tables, tables, "tables")):
            doubtful = {name} if kind == of else set()
            assert found - doubtful == set(known) - doubtful, of
        if kind:
            if name not in (views if kind == "views" else tables):
                self._forget(kind, name)
            elif kind == "tables":
                self.tables.add(name)

    def _forget(self, kind: str, name: str) -> None:
        if kind == "views":
            self.views.pop(name, None)
        else:
            self.tables.discard(name)


class KeyKeeper(Definer):
    """Makes, rotates and revokes keys."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.made: dict[str, MadeKey] = {}
        """The keys that are valid, by their names."""
        self.void: set[str] = set()
        """Texts of keys that were revoked or have another secret."""
        self._doubtful: set[str] = set()
        """Names of keys that may be valid or not, and whose text nobody knows."""
        self._touched = ""

    def act(self, db: Connection) -> None:
        if len(self.made) <= MOST:
            name = self._touched = f"key{self.requests}"
            action = f"make key {name} of role read"
            self.made[name] = self.done(action, lambda: db.make_key(name, "read"))
            return
        name = self._touched = self.chance.choice(sorted(self.made))
        key = self.made[name]
        if self.chance.random() < 0.5:
            self.done(f"DELETE /v1/keys/{key.id}", lambda: db.revoke_key(key.id))
            del self.made[name]
        else:
            self.made[name] = self.done(f"POST /v1/keys/{key.id}/rotate", lambda: db.rotate_key(key.id))
        self.void.add(key.key)

    def settle(self, keys: Sequence[KeyDescription], door: Door) -> None:
        """What was made is there and valid; what was revoked or has another secret is not."""
        if self.open is not None:
            self._doubtful.add(self._touched)
            self.made.pop(self._touched, None)
        valid = {key.name for key in keys if key.revoked is None and key.name.startswith("key")}
        assert valid - self._doubtful == set(self.made), (self._doubtful, keys)
        texts = sorted(key.key for key in self.made.values())
        assert all(is_valid(door.of(text)) for text in self._sample(texts))
        assert not any(is_valid(door.of(text)) for text in self._sample(sorted(self.void)))

    def _sample(self, texts: list[str]) -> list[str]:
        return self.chance.sample(texts, min(PROBED, len(texts)))


def is_valid(door: Door) -> bool:
    """Whether the service knows the door's key."""
    with door.connect() as db:
        try:
            db.tables()
        except UnauthorizedError:
            return False
    return True
