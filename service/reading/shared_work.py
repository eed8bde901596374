"""Work that several sessions want at the same time, done once: pages of changes, and their bytes.

What was made is kept with what it was made from, as long as that lives, and no longer: a page with the state
of the relation, its bytes with the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from service.reading.lanes import Lane

T = TypeVar("T")
_MOST = 16
"""The most results that are kept with one object."""


class SharedWork:
    """Belongs to the event loop. The work is done in the `lane`."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._results: WeakKeyDictionary[Any, dict[Hashable, asyncio.Task[Any]]] = WeakKeyDictionary()

    async def once(self, of: object, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, which the first caller with the key has begun. `make` must not hold `of`
        longer than it runs."""
        results = self._results.setdefault(of, {})
        task = results.get(key)
        if task is None:
            if len(results) == _MOST:
                results.clear()
            task = results[key] = asyncio.get_running_loop().create_task(self._lane.run(make))
        if not task.done():
            await asyncio.wait([task])  # who leaves does not end what others wait for
        if task.cancelled() or task.exception() is not None:
            results.pop(key, None)
        return task.result()  # type: ignore[no-any-return]
