"""Layouts: the columns that tables had before they were altered, in the log and in the saved state.

A table that gains or loses a column has a new layout from then on, with its own number in the log. Older
data is not rewritten: it is converted to the newest layout when the service reads it at start. So an ALTER
is durable by one small transaction of the catalog.

History changes with the table: a new column exists at every readable epoch, with the value that it got when
it was added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import orjson

from engine.codec.arrow import decode_column, encode_column
from engine.runtime.engine import Engine
from engine.runtime.spill import SavedState
from engine.schema import Column, Type
from engine.state.dictionary import Dictionary
from service.catalog.records import DefinitionRecord, Layout, dump_type, load_type

History = tuple[np.ndarray, int]
"""Differences int64[W + 2, n], and the least epoch at which they can be read."""


@dataclass(frozen=True)
class Shift:
    """A change of layout. `places` has each new column's old place, or -1 for an added column.

    `words` are the values of added columns, and `texts` the texts of those that need the dictionary.
    `retyped` has the old and the new type, by old place, where the same values have other words.
    """

    places: tuple[int, ...]
    words: tuple[int, ...] = ()
    texts: tuple[str | None, ...] = ()
    retyped: Mapping[int, tuple[Type, Type]] = field(default_factory=dict)

    def apply(self, delta: np.ndarray, dictionary: Dictionary) -> np.ndarray:
        """Differences of the old layout, converted to the new one."""
        new = iter(self.words)
        rows = [
            self._kept(delta[place], place, dictionary)
            if place >= 0
            else np.full(delta.shape[1], next(new), np.int64)
            for place in self.places
        ]
        return np.ascontiguousarray(np.vstack((*rows, delta[-2:])))

    def _kept(self, words: np.ndarray, place: int, dictionary: Dictionary) -> np.ndarray:
        if place not in self.retyped:
            return words
        old, new = self.retyped[place]
        distinct, of = np.unique(words, return_inverse=True)
        return encode_column(decode_column(distinct, old, dictionary), Column("", new), dictionary)[of]

    def dump(self) -> str:
        retyped = [[place, *map(dump_type, types)] for place, types in self.retyped.items()]
        return orjson.dumps([self.places, self.words, self.texts, *([retyped] if retyped else ())]).decode()

    @classmethod
    def load(cls, text: str, dictionary: Dictionary) -> Shift:
        """Reads what `dump` returned, and adds its texts to the dictionary."""
        places, words, texts, *more = orjson.loads(text)
        known = [(word, text) for word, text in zip(words, texts, strict=True) if text is not None]
        if known:
            dictionary.absorb(np.array([w for w, _ in known], np.int64), [t for _, t in known])
        retyped = {place: (load_type(old), load_type(new)) for place, old, new in (more[0] if more else ())}
        return cls(tuple(places), tuple(words), tuple(texts), retyped)


class Layouts:
    """The former layouts of a catalog's tables. `engine` is the one that is being restored."""

    def __init__(self, former: Sequence[Layout], engine: Engine) -> None:
        self._engine = engine
        self._former: dict[int, list[Layout]] = {}
        for layout in former:
            self._former.setdefault(layout.relation, []).append(layout)
        self.relations = {layout.id: layout.relation for layout in former}
        """The id of the table by the number of each former layout."""
        self._shifts = {layout.id: Shift.load(layout.change, engine.dictionary) for layout in former}

    def histories(
        self, records: Sequence[DefinitionRecord], state: SavedState | None, is_saved: Callable[[int], bool]
    ) -> dict[str, History]:
        """The saved histories of tables that were altered after the state was saved, by current name."""
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
        """Differences of the layout with this number, converted to the newest one of its table."""
        relation = self.relations[number]
        for layout in self._former[relation]:
            if layout.id >= number:
                delta = self._shifts[layout.id].apply(delta, self._engine.dictionary)
        return delta
