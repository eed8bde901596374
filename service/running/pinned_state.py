"""A pinned state: all that a service stores, as it was at one epoch, while the writer goes on.

The catalog is read in one transaction, which begins on the writer's thread between two epochs. Files of the
state never change, and while the state is pinned no sweep removes those that the catalog's manifest names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from engine.state.store.directory import StateDirectory
from service.catalog.catalog import Catalog, newest_commit
from service.catalog.manifests import read_manifest

Call = Callable[[Callable[[], Any]], Any]
"""Runs a job on the writer's thread, or in its place, and returns the result."""


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
        yield call(partial(_pin, catalog, directory, reserving, reading))


def _pin(
    catalog: Catalog, directory: StateDirectory, reserving: ExitStack, reading: ExitStack
) -> PinnedState:
    """Begins the transaction and reserves the files. Runs on the writer's thread, where no sweep can run."""
    connection = reading.enter_context(catalog.snapshot())
    saved, newest = read_manifest(connection), newest_commit(connection)
    files = () if saved is None else tuple(saved.manifest.names())
    size = 0 if saved is None else saved.manifest.size
    reserving.enter_context(directory.reserving(files))
    epoch = 0 if newest is None else newest.last
    return PinnedState(epoch, connection, directory.path, files, size, reading)
