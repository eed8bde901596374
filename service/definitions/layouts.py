"""Layouts: the columns that tables had before they were altered, in the log and in the saved state.

A table that gets or loses a column has another layout from then on, with a number of its own in the
log. What was written before is not written again: it is brought into the newest layout when it is
read, at a start. So an ALTER is durable by one small transaction of the catalog.

History is altered with the table: a column that was added is there at every epoch that can be read,
with the value that it got when it was added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import orjson

from engine.runtime.engine import Engine
from engine.runtime.spill import SavedState
from engine.state.dictionary import Dictionary
from service.catalog.records import DefinitionRecord, Layout

History = tuple[np.ndarray, int]
"""Differences int64[W + 2, n], and the least epoch at which they can be read."""


@dataclass(frozen=True)
class Shift:
    """A change of layout. Of each new column the place that it had, or -1 for one that is new.

    `words` are the values of the new ones, and `texts` those of them that are words of the dictionary.
    """

    places: tuple[int, ...]
    words: tuple[int, ...] = ()
    texts: tuple[str | None, ...] = ()

    def apply(self, delta: np.ndarray) -> np.ndarray:
        """Differences of the old layout in the new one."""
        new = iter(self.words)
        rows = [
            delta[place] if place >= 0 else np.full(delta.shape[1], next(new), np.int64)
            for place in self.places
        ]
        return np.ascontiguousarray(np.vstack((*rows, delta[-2:])))

    def dump(self) -> str:
        return orjson.dumps([self.places, self.words, self.texts]).decode()

    @classmethod
    def load(cls, text: str, dictionary: Dictionary) -> Shift:
        """What `dump` gave; its texts are entries of the dictionary from now on."""
        places, words, texts = orjson.loads(text)
        known = [(word, text) for word, text in zip(words, texts, strict=True) if text is not None]
        if known:
            dictionary.absorb(np.array([w for w, _ in known], np.int64), [t for _, t in known])
        return cls(tuple(places), tuple(words), tuple(texts))


class Layouts:
    """All the layouts that the tables of a catalog had; `engine` is the one that is being filled."""

    def __init__(self, former: Sequence[Layout], engine: Engine) -> None:
        self._engine = engine
        self._former: dict[int, list[Layout]] = {}
        for layout in former:
            self._former.setdefault(layout.relation, []).append(layout)
        self.relations = {layout.id: layout.relation for layout in former}
        """The ids of tables by the number of each layout that they had."""
        self._shifts = {layout.id: Shift.load(layout.change, engine.dictionary) for layout in former}

    def histories(
        self, records: Sequence[DefinitionRecord], state: SavedState | None, is_saved: Callable[[int], bool]
    ) -> dict[str, History]:
        """Of tables that were altered since the state was saved, what it has of them, by their name now."""
        found: dict[str, History] = {}
        for record in records:
            if state is None or is_saved(record.layout or record.id):
                continue
            saved = [layout for layout in self._former.get(record.id, ()) if is_saved(layout.id)]
            if saved:
                layout = saved[-1]
                self._engine.create_source(layout.name, layout.schema, layout.key, state=state)
                delta, since = self._engine.history_of(layout.name)
                found[record.name] = self.shifted(layout.id, delta), since
                self._engine.drop_source(layout.name)
        return found

    def shifted(self, number: int, delta: np.ndarray) -> np.ndarray:
        """Differences of the layout of that number in the newest one of its table."""
        relation = self.relations[number]
        for layout in self._former[relation]:
            if layout.id >= number:
                delta = self._shifts[layout.id].apply(delta)
        return delta
