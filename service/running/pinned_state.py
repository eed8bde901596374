"""A pinned state: all that a service stores, as it was at one epoch, while the writer goes on.

The catalog is read in one transaction, which begins on the writer's thread between two epochs. Files of the
state never change, and while the state is pinned no sweep removes those that the catalog's manifest names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from engine.state.store.directory import StateDirectory
from service.catalog.catalog import Call, Catalog, newest_commit
from service.catalog.manifests import read_manifest


@dataclass(frozen=True, eq=False)
class PinnedState:
    """The state at `epoch`: the catalog's rows, and the `files` in `directory`, `size` bytes in all.

    `catalog` reads the rows until `end_reading`, which lets the database give up what it keeps for it.
    """

    epoch: int
    catalog: sa.Connection
    directory: Path
    files: tuple[str, ...]
    size: int
    _reading: ExitStack

    def end_reading(self) -> None:
        """Ends the catalog's transaction; the files stay pinned."""
        self._reading.close()


@contextmanager
def pinned(catalog: Catalog, directory: StateDirectory, call: Call) -> Iterator[PinnedState]:
    """The newest state, pinned until the context ends."""
    with ExitStack() as reserving, ExitStack() as reading:
        # The writer's turn is short: which files they are, this thread finds out behind it.
        with directory.unswept():
            connection = reading.enter_context(catalog.snapshot(call))
            saved = read_manifest(connection)
            files = () if saved is None else tuple(saved.manifest.names())
            reserving.enter_context(directory.reserving(files))
        newest = newest_commit(connection)
        size = 0 if saved is None else saved.manifest.size
        epoch = 0 if newest is None else newest.last
        yield PinnedState(epoch, connection, directory.path, files, size, reading)
