"""Catalogs for services of tests: the migrations make one in each process, and the others are its copies."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from service.catalog.connections import Connections
from service.settings.settings import Settings

_NAME = "freshet.db"


@cache
def _made() -> bytes:
    """The file of an empty catalog."""
    with TemporaryDirectory() as directory:
        file = Path(directory) / _NAME
        Connections(f"sqlite:///{file}").close()
        return file.read_bytes()


def put_catalog(settings: Settings) -> None:
    """Gives a data directory that no service has had its catalog: making it is half of a start."""
    data = settings.data
    if settings.database_url or not data.parent.is_dir() or data.is_file():
        return
    if not any((data / name).exists() for name in (_NAME, "state")):
        data.mkdir(exist_ok=True)
        (data / _NAME).write_bytes(_made())
