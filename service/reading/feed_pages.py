"""Pages of changefeeds: the changes of a few epochs as events, made once for all feeds that send them.

Feeds that follow a relation ask for the same page at the same moment. The first one has it made; the others
wait for it. A page lives as long as some feed sends it. A small one is text that all of its feeds share. A
large one keeps its changes, and each feed encodes them as its client reads. So a feed whose client does not
read holds little, and no snapshot.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import pairwise
from weakref import WeakValueDictionary

import numpy as np
import orjson

from engine.runtime.engine import Snapshot
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from service.definitions.definition import Definition
from service.reading.lanes import Lane
from service.reading.row_formats import changes_of

PAGE = 1024
"""The most changes in a page, unless one epoch has more."""
PIECE_BYTES = 1 << 15
"""About the size of the pieces in which a page is sent, and the largest page that is kept as text."""
_STEP = 64
"""Changes that are decoded together."""


class FeedPage:
    """The changes of a relation after some epoch, up to epoch `until`, as events."""

    def __init__(
        self, snapshot: Snapshot, definition: Definition, since: int, dictionary: Dictionary
    ) -> None:
        relation = snapshot.relations[definition.name]
        self.until = relation.stretch(since, snapshot.upper - 1, PAGE)
        delta = snapshot.changes(definition.name, since, self.until)
        pieces = partial(event_pieces, delta, definition.schema, dictionary)
        self._text = _short(pieces())
        self._pieces = pieces if self._text is None else None
        self._texts = snapshot.texts if self._text is None else None

    async def pieces(self, lane: Lane) -> AsyncIterator[bytes]:
        """The events in pieces; what has to be encoded for this feed alone is encoded in the lane."""
        if self._pieces is not None:
            async for piece in lane.each(self._pieces()):
                yield piece
        elif self._text:
            yield self._text


def _short(pieces: Iterator[bytes]) -> bytes | None:
    """The pieces together, if they are few bytes."""
    text = next(pieces, b"")
    return text if len(text) <= 2 * PIECE_BYTES and next(pieces, None) is None else None


class FeedPages:
    """Makes pages in a lane. Belongs to the event loop."""

    def __init__(self, dictionary: Dictionary, lane: Lane) -> None:
        self.lane = lane
        self._dictionary = dictionary
        self._making: WeakValueDictionary[tuple[object, ...], asyncio.Task[FeedPage]] = WeakValueDictionary()

    def begin(self, definition: Definition, snapshot: Snapshot, since: int) -> asyncio.Task[FeedPage]:
        """The page of the changes after `since`. A feed keeps the task as long as it sends the page."""
        origin = snapshot.relations[definition.name].origin
        key = (definition.id, origin, since, snapshot.upper)
        task = self._making.get(key)
        if task is None:
            made = self.lane.run(FeedPage, snapshot, definition, since, self._dictionary)
            task = self._making[key] = asyncio.create_task(made)
        return task


def event_pieces(delta: np.ndarray, schema: Schema, dictionary: Dictionary) -> Iterator[bytes]:
    """One event for each epoch of a delta, with an array of its changes, in pieces of `PIECE_BYTES` or one
    change more."""
    epochs = delta[-2]
    bounds = [*np.flatnonzero(np.diff(epochs, prepend=-1)).tolist(), len(epochs)]
    waiting = bytearray()
    for start, stop in pairwise(bounds):
        waiting += b"id: %d\nevent: changes\ndata: " % epochs[start]
        mark = b"["
        for first in range(start, stop, _STEP):
            for change in changes_of(delta[:, first : min(first + _STEP, stop)], schema, dictionary):
                waiting += mark + orjson.dumps(change)
                mark = b","
                if len(waiting) >= PIECE_BYTES:
                    yield bytes(waiting)
                    waiting.clear()
        waiting += b"]\n\n"
    if waiting:
        yield bytes(waiting)
