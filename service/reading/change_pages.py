"""Pages of changes: a part of what happened to a relation between two epochs, and where it goes on.

A page costs what it has, and the rest of the epoch that it ends in. A place between two changes is an epoch,
all of whose changes come before it, and a number of changes after that. As kept history does not change, the
same place leads to the same changes, as long as the history is kept.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import orjson

from engine.runtime.engine import Snapshot
from engine.state.dictionary import Dictionary
from service.definitions.definition import Definition
from service.reading.page_cursors import are_counts, decoded, encoded, invalid_cursor
from service.reading.row_formats import changes_of


@dataclass(frozen=True)
class ChangePlace:
    """A place in the changes of a relation up to epoch `until`: `skip` changes after epoch `since`."""

    relation: int
    since: int
    until: int
    skip: int = 0
    skip_errors: bool = False

    def encode(self) -> str:
        """The place as a client's cursor."""
        return encoded(asdict(self))

    @classmethod
    def decode(cls, text: str) -> ChangePlace:
        """The place in a cursor. Raises BadRequest if `encode` did not make the text."""
        try:
            place = cls(**decoded(text))
        except TypeError:
            raise invalid_cursor() from None
        numbers = (place.relation, place.since, place.until, place.skip)
        if not are_counts(*numbers) or not isinstance(place.skip_errors, bool):
            raise invalid_cursor()
        return place


@dataclass(frozen=True, eq=False)
class ChangePage:
    """A delta int64[W + 2, n], and the place at which the next page begins; None after the last one."""

    delta: np.ndarray
    following: ChangePlace | None


def change_page(snapshot: Snapshot, name: str, place: ChangePlace, most: int) -> ChangePage:
    """The page of `most` changes, or of all that are left. Raises EpochError if their history is gone."""
    end = place.skip + most
    delta = snapshot.changes(name, place.since, place.since)
    stop = place.since
    while stop < place.until and delta.shape[1] <= end:
        before, stop = stop, snapshot.relations[name].stretch(stop, place.until, end - delta.shape[1])
        delta = np.concatenate([delta, snapshot.changes(name, before, stop)], axis=1)
    following = None
    if end < delta.shape[1]:
        epoch = int(delta[-2, end])
        skip = end - int(np.searchsorted(delta[-2], epoch))
        following = ChangePlace(place.relation, epoch - 1, place.until, skip, place.skip_errors)
    return ChangePage(delta[:, place.skip : end], following)


def change_document(
    kind: str, definition: Definition, dictionary: Dictionary, page: ChangePage, until: int
) -> bytes:
    """The page as a JSON object; `until` is the epoch up to which all pages together lead."""
    return orjson.dumps(
        {
            kind: definition.name,
            "epoch": until,
            "changes": changes_of(page.delta, definition.schema, dictionary),
            "next": None if page.following is None else page.following.encode(),
        }
    )
