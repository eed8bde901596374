"""`freshet backup` and `freshet restore`.

A running service writes its backup itself: the command asks it to, and waits. Where none runs, the command
writes the backup from the data directory.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from dataclasses import replace
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from engine.errors import EngineError
from engine.state.store.directory import StateDirectory
from service.backup.backup_writing import write_backup
from service.backup.backups import put
from service.backup.restore import restore_backup
from service.catalog.catalog import Catalog
from service.errors import Conflict, ServiceError, start_failure
from service.pipeline.source import streams_of
from service.pipeline.targets import ERROR_IF_EXISTS, ExportTarget
from service.privacy import keep_private
from service.process.asking import RunningService
from service.running.pinned_state import pinned
from service.running.state import DirectoryInUse, lock_directory
from service.settings.settings import Settings


def run(arguments: argparse.Namespace) -> None:
    """Runs a command, and ends the process: with one sentence if it cannot be done."""
    keep_private()
    try:
        _COMMANDS[arguments.command](arguments, Settings.from_environment())
    except KeyboardInterrupt:
        sys.exit("freshet: cancelled")
    except OSError as error:
        sys.exit(f"freshet: {error}")
    except (ValueError, ServiceError, EngineError, SQLAlchemyError) as error:
        sys.exit(f"freshet: {start_failure(error) or error}")


def _back_up(arguments: argparse.Namespace, settings: Settings) -> None:
    path = arguments.path.absolute()
    epoch = _back_up_stopped(path, settings) if arguments.url is None else None
    if epoch is None:
        key = "" if arguments.key_file is None else arguments.key_file.read_text().strip()
        epoch = RunningService.of(settings, arguments.url, key).back_up(path)
    print(f"the backup {path} holds epoch {epoch}")


def _back_up_stopped(path: Path, settings: Settings) -> int | None:
    """Writes a backup from the data directory. Returns its epoch; None if a service runs there."""
    if not settings.data.is_dir():
        raise Conflict(f"there is no data directory {settings.data}", "set FRESHET_DATA, or name a --url")
    try:
        lock = lock_directory(settings)
    except DirectoryInUse:
        return None
    target = ExportTarget(path, secrets.token_hex(8))
    try:
        target.check(ERROR_IF_EXISTS)
        path.parent.mkdir(parents=True, exist_ok=True)
        catalog = Catalog(settings.url)
        try:
            with pinned(catalog, StateDirectory(settings.state), lambda job: job()) as state:
                manifest = write_backup(state, target.staging, streams_of(settings), lambda progress: None)
            put(target.staging, path)
        finally:
            catalog.close()
            target.clear()
    finally:
        os.close(lock)
    return manifest.epoch


def _restore(arguments: argparse.Namespace, settings: Settings) -> None:
    given = {"data": arguments.data, "database_url": arguments.database_url}
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    manifest = restore_backup(arguments.backup.absolute(), settings)
    print(f"{settings.data} holds epoch {manifest.epoch}, from the backup of {manifest.made}")


_COMMANDS = {"backup": _back_up, "restore": _restore}
