"""Restoring a backup into an empty place: a data directory, and a database of either kind.

All hashes are checked before anything is written. Then the files are written, and then the catalog, in one
transaction. Until that is done, a file in the data directory keeps services from starting over it; a restore
that was killed is begun again, by the same command.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from service.backup.backup_manifest import CATALOG, STATE, STREAMS, BackupManifest, read_backup, verify
from service.backup.catalog_dump import TABLES, give_after, load_table
from service.backup.file_copies import copy, sync
from service.catalog.connections import revisions, upgrade
from service.catalog.manifests import read_manifest
from service.errors import Conflict, Invalid
from service.pipeline.source import streams_of
from service.running.instance import UNFINISHED, lock_directory
from service.settings.settings import Settings

_HARMLESS = ("lock", "freshet.db")
"""What a data directory may have; the second is left, and empty, by a restore that was killed as it began."""
_OF_DATABASE = (OperationalError, InterfaceError)
"""Errors for which the backup is not to blame."""
Advance = Callable[[float], None]
"""Takes the progress, from 0 to 1; whatever it raises ends the restore."""


def restore_backup(
    backup: Path, settings: Settings, advance: Advance = lambda progress: None
) -> BackupManifest:
    """Makes a service of a backup, in the data directory and the database of the settings.

    Raises Invalid for a backup that is damaged, Conflict if the place is not empty; then nothing is changed.
    """
    manifest = read_backup(backup)
    _check_catalog(backup, manifest)
    counted = _Counted(2 * manifest.size, advance)
    verify(backup, manifest, counted)
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = lock_directory(settings, restoring=True)
    try:
        mark = settings.data / UNFINISHED
        begun = mark.exists()
        if begun:
            _check_own(mark, _claim(manifest, settings))
        else:
            _check_directories(settings)
        with _database(settings.url) as connection:
            if not begun:
                _check_database(connection)
                mark.write_text(_claim(manifest, settings))
                sync(mark)
                sync(settings.data)
            _clear(settings, connection)
            _write_files(backup, manifest, settings, counted)
            _write_catalog(backup, manifest, connection)
            connection.commit()
        (settings.data / UNFINISHED).unlink()
        sync(settings.data)
    finally:
        os.close(lock)
    return manifest


class _Counted:
    """Counts bytes that were read, of `all`, and reports the progress."""

    def __init__(self, all: int, advance: Advance) -> None:
        self._all = max(all, 1)
        self._done = 0
        self._advance = advance

    def __call__(self, size: int) -> None:
        self._done += size
        self._advance(self._done / self._all)


@contextmanager
def _database(url: str) -> Iterator[sa.Connection]:
    """A connection with one transaction, definitions of tables included."""
    database = sa.create_engine(url)
    try:
        with database.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA synchronous = FULL")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
    finally:
        database.dispose()


def _claim(manifest: BackupManifest, settings: Settings) -> str:
    """What is restored, and to where."""
    place = hashlib.sha256(f"{settings.url}\0{settings.state.resolve()}".encode()).hexdigest()
    return f"{manifest.sha256} {place}\n"


def _check_own(mark: Path, claim: str) -> None:
    """Raises Conflict unless it was the same restore that has left the mark."""
    if mark.read_text() != claim:
        raise Conflict(
            f"another restore into {mark.parent} has not finished",
            "restore the same backup to the same database, or remove the directory",
        )


def _check_directories(settings: Settings) -> None:
    """Raises Conflict unless the data directory and the state's directory are empty."""
    for directory in (settings.data, settings.state):
        names = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
        found = names.difference(_HARMLESS)
        if found:
            raise Conflict(
                f"{directory} is not empty: it has {min(found)}",
                "name another directory with --data: a restore replaces nothing",
            )


def _check_database(connection: sa.Connection) -> None:
    """Raises Conflict if the database has a catalog."""
    if _tables(connection):
        raise Conflict(
            "the database has a catalog already",
            "name another with --database-url: a restore replaces nothing",
        )


def _clear(settings: Settings, connection: sa.Connection) -> None:
    """Removes what the same restore has left that was killed."""
    for directory in (settings.state, streams_of(settings)):
        shutil.rmtree(directory, ignore_errors=True)
    for name in sorted(_tables(connection)):
        connection.execute(sa.delete(TABLES[name]))


def _tables(connection: sa.Connection) -> set[str]:
    """The catalog's tables that the database has."""
    return TABLES.keys() & set(sa.inspect(connection).get_table_names())


def _write_files(backup: Path, manifest: BackupManifest, settings: Settings, counted: _Counted) -> None:
    """Copies the files of the state and of the streams to their places."""
    for name, place in ((STATE, settings.state), (STREAMS, streams_of(settings))):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in manifest.of(name):
            target = place / Path(file.path).relative_to(name)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if copy(backup / file.path, target, counted) != file.sha256:
                raise Invalid(
                    f"the backup's file {str(backup / file.path)!r} has changed while it was restored",
                    "run freshet restore again",
                    code="backup_damaged",
                )
        for directory in {place, *(path for path in place.rglob("*") if path.is_dir())}:
            sync(directory)


def _check_catalog(backup: Path, manifest: BackupManifest) -> None:
    """Raises Invalid unless this release knows the catalog's schema and the tables that have files."""
    if manifest.revision not in revisions():
        raise Invalid(
            f"the backup {str(backup)!r} was made by a newer release, {manifest.release}",
            "restore it with that release",
            code="backup_damaged",
        )
    others = {file.path for file in manifest.of(CATALOG)} - set(_tables_of(manifest).values())
    if others:
        raise Invalid(
            f"the backup's file {str(backup / min(others))!r} is not of the catalog",
            "restore another backup",
            code="backup_damaged",
        )


def _tables_of(manifest: BackupManifest) -> dict[str, str]:
    """The catalog's tables that the backup has, with their files."""
    paths = {file.path for file in manifest.of(CATALOG)}
    return {name: path for name in TABLES if (path := f"{CATALOG}/{name}.arrow") in paths}


def _write_catalog(backup: Path, manifest: BackupManifest, connection: sa.Connection) -> None:
    """Makes the tables as the backup's release had them, and fills them. The next start upgrades them."""
    upgrade(connection, manifest.revision)
    lacking = _tables(connection) - _tables_of(manifest).keys()
    if lacking:  # without the table of keys, for instance, the service would be open to anyone
        raise Invalid(
            f"the backup lacks the catalog's table {min(lacking)}",
            "restore another backup",
            code="backup_damaged",
        )
    for name, path in _tables_of(manifest).items():
        try:
            load_table(connection, name, backup / path)
        except _OF_DATABASE:
            raise
        except (pa.ArrowException, SQLAlchemyError, OSError, ValueError, OverflowError) as error:
            raise Invalid(
                f"the backup's file {str(backup / path)!r} has no rows of the table {name}: "
                f"{type(error).__name__}",
                "restore another backup",
                code="backup_damaged",
            ) from None
    give_after(connection, manifest.numbers)
    saved = read_manifest(connection)
    there = {Path(file.path).name for file in manifest.of(STATE)}
    lost = set() if saved is None else set(saved.manifest.names()) - there
    if lost:
        raise Invalid(f"the backup lacks the state's file {min(lost)}", code="backup_damaged")
