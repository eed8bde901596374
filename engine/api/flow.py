"""What all parts of a dataflow share: the engine that runs it, its times, and names."""

from __future__ import annotations

import itertools

from engine.runtime.engine import DEFAULTS, Engine, Options
from engine.state.packed_times import Order, Time


class Flow:
    """An engine with the times of `order`; the first time has all coordinates zero."""

    def __init__(self, *coordinates: str, options: Options = DEFAULTS) -> None:
        self.order = Order(coordinates or ("epoch",))
        self.engine = Engine(options, self.order, first=0)
        self._names = itertools.count(1)

    def fresh_name(self, prefix: str) -> str:
        """A name that nothing in this dataflow has."""
        return f"{prefix}{next(self._names)}"

    @property
    def frontier(self) -> tuple[Time, ...]:
        """The least times at which changes may still come, none of them before another."""
        return tuple(self.order.unpack(word) for word in self.engine.frontier.words)

    @property
    def time(self) -> Time:
        """The time of changes that name none: the first of the frontier."""
        return self.frontier[0]


class Probe:
    """Tells how far a dataflow is."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    @property
    def frontier(self) -> tuple[Time, ...]:
        """The least times that are not complete."""
        return self._flow.frontier

    def done(self, time: Time) -> bool:
        """Whether nothing can change any more at or before the time."""
        return self._flow.engine.frontier.is_complete(self._flow.order.pack(time))
