"""A hunt: attacks on one service, one after another, and what is seen of each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from tests.hostile import canary
from tests.hostile.attack import Attack
from tests.hostile.door import Door, Reply, distinct
from tests.hostile.house import House

MIB = 1 << 20
PATIENCE = 30.0
"""Seconds that an attack may take for an answer."""
MOST = 4096 * MIB
"""Bytes of memory at which the service is ended."""
HEADER = (
    "| attack | answers | seconds | posts | p99 ms | most ms | MiB | after | right | canary | alive |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Outcome:
    """What was seen of an attack. `wrong`, `canary`, `dead`, `left`: sentences, empty if all is well."""

    attack: Attack
    replies: Sequence[Reply]
    seconds: float
    delays: np.ndarray
    """Milliseconds that each post of the watcher waited."""
    before: int
    after: int
    wrong: str
    canary: str
    dead: str
    left: str
    faults: int

    @property
    def harm(self) -> str:
        """Everything that is wrong, in sentences; nothing if all is well."""
        fault = f"the log has {self.faults} faults" if self.faults else ""
        return "; ".join(filter(None, (self.wrong, self.dead, self.canary, self.left, fault)))

    def __str__(self) -> str:
        p99 = f"{np.quantile(self.delays, 0.99):.0f}" if len(self.delays) else ""
        most = f"{self.delays.max():.0f}" if len(self.delays) else ""
        cells = (
            self.attack.name,
            ", ".join(map(str, distinct(self.replies))),
            f"{self.seconds:.1f}",
            len(self.delays),
            p99,
            most,
            self.before // MIB,
            self.after // MIB,
            "no" if self.wrong or self.faults else "yes",
            "wrong" if self.canary else "right",
            "no" if self.dead else "yes",
        )
        return f"| {' | '.join(map(str, cells))} |"


class Hunt:
    def __init__(self, house: House) -> None:
        self._house = house

    def outcome(self, attack: Attack) -> Outcome:
        """Makes the attack, and puts the service in order for the next."""
        house = self._house
        assert house.watcher is not None
        before, faults = house.memory(), house.faults()
        began = time.monotonic_ns()
        replies = _sent(attack, house.door)
        ended = time.monotonic_ns()
        dead = "" if house.is_alive(ended) else self._reason()
        faults = house.faults() - faults
        posts = house.watcher.posts(began, time.monotonic_ns())
        after = house.memory()
        if dead:
            again = house.again()
            dead = f"{dead}; {again}" if again else dead
            self._settle()
        seen = canary.wrong(house.door)
        return Outcome(
            attack,
            replies,
            (ended - began) / 1e9,
            np.array([post.delay for post in posts]) / 1e6,
            before,
            after,
            attack.wrong(replies),
            seen,
            dead,
            self._tidy(),
            faults,
        )

    def _reason(self) -> str:
        if self._house.over:
            return "the service took too much memory and was ended"
        return "the service takes no changes any more"

    def _settle(self) -> None:
        """Waits until the watcher's tables have rows."""
        assert self._house.watcher is not None
        self._house.watcher.answered_after(time.monotonic_ns() + 1_000_000_000, 60)

    def _tidy(self) -> str:
        try:
            return self._house.tidy()
        except httpx.HTTPError as error:
            again = self._house.again()
            return f"what the attack made cannot be dropped: {error!r} {again}".rstrip()


def _sent(attack: Attack, door: Door) -> Sequence[Reply]:
    """The replies to an attack; one of status 0 if it cannot even be prepared."""
    try:
        return attack.send(door)
    except (AssertionError, OSError, httpx.HTTPError) as error:
        return [Reply(0, "failed", repr(error))]


@contextmanager
def hunting(directory: Path, patience: float = PATIENCE, most: int = MOST) -> Iterator[Hunt]:
    """A hunt on a new service with its data below the directory."""
    house = House(directory, patience, most)
    try:
        house.open()
        hunt = Hunt(house)
        hunt._settle()
        yield hunt
    finally:
        house.close()
