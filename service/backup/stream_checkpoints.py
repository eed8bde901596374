"""Checkpoints of sources' streams, as they were after the last batch that a backup's catalog knows.

Spark writes a directory for each stream: `sources` has the files that it has seen, `offsets` the batches that
it has begun, and `commits` those that were confirmed. The stream may have gone on since the catalog was read,
so later batches are left out. That is the checkpoint of a stream that was killed right before it began them:
Spark then makes the next batch of the files that it has seen and of new ones.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import sqlalchemy as sa

from service.pipeline.catalog_tables import sources

_OF_BATCHES = ("offsets", "commits")
_ATTEMPTS = 5
"""Times that a checkpoint is copied; Spark may remove old files of it meanwhile."""


def batches_applied(connection: sa.Connection) -> dict[str, int]:
    """The last batch that each source has applied, by the source's id; -1 for none."""
    return {
        row.id: row.last_batch for row in connection.execute(sa.select(sources.c.id, sources.c.last_batch))
    }


def copy_checkpoint(checkpoint: Path, target: Path, last_batch: int) -> None:
    """Copies a stream's checkpoint to a new directory, without the batches after the last one."""
    for attempt in range(_ATTEMPTS):
        try:
            if checkpoint.is_dir():
                shutil.copytree(checkpoint, target, ignore=_unfinished)
                break
        except (FileNotFoundError, shutil.Error):
            shutil.rmtree(target, ignore_errors=True)
            if attempt == _ATTEMPTS - 1:
                raise
    for kind in _OF_BATCHES:
        for path in target.glob(f"{kind}/*"):
            number = path.name.removeprefix(".").partition(".")[0]
            if number.isdigit() and int(number) > last_batch:
                path.unlink()


def _unfinished(directory: str, names: list[str]) -> set[str]:
    """Files that Spark is writing: it renames them when they are whole."""
    return {name for name in names if ".tmp" in name}
