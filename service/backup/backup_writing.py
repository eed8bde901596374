"""Writing a backup: the pinned state as a directory.

  FRESHET_BACKUP   says what the directory is; loads read nothing from a directory that has it
  catalog/         the tables of the catalog, among them the log since the state's files were written
  state/           the files of the state: further names of the service's own where links are possible
  streams/         how far the streams of sources have read
  manifest.json    the epoch, and the hash of every file; written last

The catalog is read first, so that its transaction is short. API keys are in the backup as they are in the
catalog: as salted hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import sqlalchemy as sa

from service.backup import stream_checkpoints
from service.backup.backup_manifest import CATALOG, STATE, STREAMS, BackupFile, BackupManifest
from service.backup.catalog_dump import TABLES, dump_table, numbers_given
from service.backup.file_copies import hash_of, link_or_copy, sync
from service.pipeline.locations import BACKUP_MARK
from service.running.pinned_state import PinnedState

_MARK = "This directory is a backup of Freshet. The command freshet restore makes a service of it.\n"
_CATALOG_SHARE = 0.1
"""The part of the progress that the catalog takes."""
Advance = Callable[[float], None]
"""Takes the progress, from 0 to 1; whatever it raises ends the backup."""


def write_backup(pinned: PinnedState, directory: Path, streams: Path, advance: Advance) -> BackupManifest:
    """Writes a pinned state to a new directory. `streams` has the checkpoints of the service's sources.

    It ends before the pinned state's catalog is read again.
    """
    directory.mkdir(mode=0o700, parents=True)
    (directory / BACKUP_MARK).write_text(_MARK)
    files = _write_catalog(pinned.catalog, directory, advance)
    numbers = numbers_given(pinned.catalog)
    revision = pinned.catalog.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
    applied = stream_checkpoints.batches_applied(pinned.catalog)
    pinned.end_reading()
    files += _write_state(pinned, directory, advance)
    files += _write_streams(applied, streams, directory)
    made = datetime.now(UTC).isoformat(timespec="seconds")
    manifest = BackupManifest(pinned.epoch, made, version("freshet"), revision, numbers, tuple(files))
    manifest.write(directory)
    return manifest


def _write_catalog(connection: sa.Connection, directory: Path, advance: Advance) -> list[BackupFile]:
    files: list[BackupFile] = []
    (directory / CATALOG).mkdir(mode=0o700)
    for number, table in enumerate(TABLES.values()):
        advance(_CATALOG_SHARE * number / len(TABLES))
        path = directory / CATALOG / f"{table.name}.arrow"
        dump_table(connection, table, path)
        sync(path)
        files.append(_described(path, directory))
    sync(directory / CATALOG)
    return files


def _write_state(pinned: PinnedState, directory: Path, advance: Advance) -> list[BackupFile]:
    files: list[BackupFile] = []
    done = 0

    def passed(size: int) -> None:
        nonlocal done
        done += size
        advance(_CATALOG_SHARE + (1 - _CATALOG_SHARE) * done / max(pinned.size, 1))

    (directory / STATE).mkdir(mode=0o700)
    for name in pinned.files:
        path = directory / STATE / name
        digest = link_or_copy(pinned.directory / name, path, passed)
        files.append(BackupFile(f"{STATE}/{name}", path.stat().st_size, digest))
    sync(directory / STATE)
    return files


def _write_streams(applied: dict[str, int], streams: Path, directory: Path) -> list[BackupFile]:
    (directory / STREAMS).mkdir(mode=0o700)
    for id, batch in applied.items():
        stream_checkpoints.copy_checkpoint(streams / id, directory / STREAMS / id, batch)
    found = sorted(path for path in (directory / STREAMS).rglob("*") if path.is_file())
    return [_described(path, directory) for path in found]


def _described(path: Path, directory: Path) -> BackupFile:
    digest = hash_of(path, lambda size: None)
    return BackupFile(str(path.relative_to(directory)), path.stat().st_size, digest)
