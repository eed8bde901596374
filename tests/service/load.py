"""The clients of a service that dies, each on a thread of its own, between two checks of the guarantee."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from typing import Protocol

from tests.seeds import SEED
from tests.service.defining_load import KeyKeeper, RelationDefiner
from tests.service.door import PATIENT, Door
from tests.service.mixed_load import DeltaWriter, SqlWriter, Writer
from tests.service.reading_load import Reader
from tests.service.waiting import wait_until

WRITERS: tuple[tuple[type[Writer], int], ...] = (
    (DeltaWriter, PATIENT),
    (DeltaWriter, PATIENT),
    (DeltaWriter, 0),
    (SqlWriter, PATIENT),
    (DeltaWriter, PATIENT),
)
"""Each with the repetitions of a call that it is patient enough for."""
TABLES = ["items", "edges"]


class Client(Protocol):
    is_stopped: bool

    def work(self, door: Door) -> None:
        """Sends requests until it is stopped."""
        ...


class Load:
    """Two writers that repeat their posts until they are answered, one that gives up at once, one of SQL, and
    clients that define. Writers have a key for the tables, the others the admin's."""

    def __init__(self, door: Door, pause: float = 0.0, readers: Mapping[str, Reader] | None = None) -> None:
        """`pause` is in seconds, between two requests of a writer; `readers` are by the address they read."""
        self.chance = random.Random(SEED)
        self.door = door
        self.readers = readers or {}
        self.writers = [
            kind(i, len(WRITERS), random.Random(self.chance.random()), retries, pause)
            for i, (kind, retries) in enumerate(WRITERS)
        ]
        *self._early, self._late = self.writers
        self.definer = RelationDefiner(random.Random(self.chance.random()))
        self.keeper = KeyKeeper(random.Random(self.chance.random()))
        with door.connect() as db:
            self._writers_door = door.of(db.make_key("writers", "write", TABLES).key)
        self._threads: list[threading.Thread] = []
        self._failures: list[BaseException] = []

    @property
    def acknowledged(self) -> int:
        """Posts that were acknowledged."""
        return sum(len(writer.applied) for writer in self.writers)

    @property
    def answered_at(self) -> float:
        """When the last post was acknowledged, by time.monotonic."""
        self._raise()
        return max(writer.answered_at for writer in self.writers)

    def begin(self) -> None:
        """Starts all clients but the last writer."""
        works: list[tuple[Client, Door]] = [(writer, self._writers_door) for writer in self._early]
        works += [(client, self.door) for client in (self.definer, self.keeper)]
        works += [(reader, self.door.at(url)) for url, reader in self.readers.items()]
        self._threads = [self._started(client, door) for client, door in works]

    def end(self) -> None:
        """Lets every client finish what it has begun. Raises what one of them has met."""
        for client in (*self.writers, self.definer, self.keeper, *self.readers.values()):
            client.is_stopped = True
        for thread in self._threads:
            thread.join(600)
            assert not thread.is_alive()
        self._raise()

    def write_meanwhile(self, url: str) -> None:
        """The last writer makes epochs at one service, while requests of the others hang in another."""
        before = len(self._late.applied)
        thread = self._started(self._late, self._writers_door.at(url))
        wait_until(lambda: bool(self._failures) or len(self._late.applied) > before + 3)
        self._late.is_stopped = True
        thread.join()
        self._raise()

    def has_posted(self, before: int) -> bool:
        """Whether some more posts were acknowledged than `before`."""
        self._raise()
        return self.acknowledged > before + len(self._early)

    def is_working(self) -> bool:
        """Whether every client has been answered since it first began."""
        self._raise()
        requests = min(self.definer.requests, self.keeper.requests)
        return requests > 4 and all(writer.applied for writer in self._early)

    def _started(self, client: Client, door: Door) -> threading.Thread:
        client.is_stopped = False
        # A patient client whose service is gone for ever must not keep the run of the tests.
        thread = threading.Thread(target=self._work, args=(client, door), daemon=True)
        thread.start()
        return thread

    def _work(self, client: Client, door: Door) -> None:
        try:
            client.work(door)
        except BaseException as failure:
            self._failures.append(failure)

    def _raise(self) -> None:
        if self._failures:
            raise self._failures[0]
