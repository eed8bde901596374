"""`freshet backup` and `freshet restore` over a data directory without a service.

A running service writes its backup itself, so `back_up` leaves it to the service then.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
from service.running.instance import DirectoryInUse, stopped
from service.running.pinned_state import pinned
from service.settings.settings import Settings

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses that a service listens on, and where it can then be reached from here."""


def back_up(path: Path) -> int | None:
    """Writes a backup from the data directory. Returns its epoch; None if a service runs there."""
    with _ending() as settings:
        if not settings.data.is_dir():
            raise Conflict(f"there is no data directory {settings.data}", "set FRESHET_DATA, or name a --url")
        try:
            with stopped(settings):
                return _back_up_stopped(path, settings)
        except DirectoryInUse:
            return None


def _back_up_stopped(path: Path, settings: Settings) -> int:
    target = ExportTarget(path, secrets.token_hex(8))
    with ExitStack() as closing:
        target.check(ERROR_IF_EXISTS)
        path.parent.mkdir(parents=True, exist_ok=True)
        catalog = Catalog(settings.url)
        closing.callback(catalog.close)
        closing.callback(target.clear)
        with pinned(catalog, StateDirectory(settings.state), lambda job: job()) as state:
            manifest = write_backup(state, target.staging, streams_of(settings), lambda progress: None)
        put(target.staging, path)
    return manifest.epoch


def restore(backup: Path, data: Path | None, database_url: str | None) -> None:
    """Makes a service of a backup, in the place of the settings or in another one."""
    with _ending() as settings:
        settings = replace(
            settings, data=data or settings.data, database_url=database_url or settings.database_url
        )
        manifest = restore_backup(backup, settings)
        print(f"{settings.data} holds epoch {manifest.epoch}, from the backup of {manifest.made}")


def address() -> str:
    """Where the service of the settings is reached from this machine."""
    with _ending() as settings:
        scheme = "https" if settings.tls_certificate else "http"
        host = _ANY_ADDRESS.get(settings.host, settings.host)
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port}"


@contextmanager
def _ending() -> Iterator[Settings]:
    """The settings; whatever cannot be done ends the process with one sentence."""
    keep_private()
    try:
        yield Settings.from_environment()
    except OSError as error:
        sys.exit(f"freshet: {error}")
    except (ValueError, ServiceError, EngineError, SQLAlchemyError) as error:
        sys.exit(f"freshet: {start_failure(error) or error}")
