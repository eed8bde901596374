"""Manifests: the files that make up an engine's state at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.state.store.files import BatchFile, TextFile


@dataclass(frozen=True)
class Manifest:
    """The state of an engine whose epochs before `upper` are complete.

    `arrangements` has the files of each operator's state, by fingerprint (`engine.plan.fingerprint`): the
    collection is their sum, whatever their shards. `since` has, for each, the epoch up to which epochs are
    not told apart. `texts` are the dictionary's files, in the order in which they are read.
    """

    upper: int
    arrangements: Mapping[str, tuple[BatchFile, ...]]
    since: Mapping[str, int]
    texts: tuple[TextFile, ...]

    def names(self) -> Iterator[str]:
        """The names of all files."""
        for files in self.arrangements.values():
            yield from (file.name for file in files)
        yield from (file.name for file in self.texts)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        batches = (file.size for files in self.arrangements.values() for file in files)
        return sum(batches) + sum(file.size for file in self.texts)
