"""The manifest of a backup: what it holds, and the hash of every file.

It is written last, under its name at once, so a directory without one is no backup: it was not finished. The
manifest has a hash of itself. `FORMAT` counts changes that an older release could not read.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from service.backup.file_copies import Passed, hash_of, sync
from service.errors import Invalid

FORMAT = 1
NAME = "manifest.json"
CATALOG, STATE, STREAMS = "catalog", "state", "streams"
"""The directories of a backup: tables of the catalog, files of the state, checkpoints of sources."""
_PATH = re.compile(rf"(?:{CATALOG}|{STATE}|{STREAMS})(?:/\.?[\w-][\w.-]*)+")
_LONGEST_PATH = 1_000
_AGAIN = "restore another backup"


@dataclass(frozen=True)
class BackupFile:
    """A file of a backup, by its path in it."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class BackupManifest:
    """A backup of the state at `epoch`, made by `release` at the time `made` (RFC 3339).

    `revision` is that of the catalog's schema, and `numbers` what its tables have given to rows.
    """

    epoch: int
    made: str
    release: str
    revision: str
    numbers: Mapping[str, int]
    files: tuple[BackupFile, ...]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def of(self, directory: str) -> list[BackupFile]:
        """The files in a directory of the backup."""
        return [file for file in self.files if file.path.startswith(f"{directory}/")]

    @property
    def sha256(self) -> str:
        """The hash of what the manifest says."""
        return hashlib.sha256(orjson.dumps(self._document(), option=orjson.OPT_SORT_KEYS)).hexdigest()

    def write(self, backup: Path) -> None:
        """Writes the manifest, durably and at once: this makes the directory a backup."""
        document = self._document() | {"sha256": self.sha256}
        unfinished = backup / f"{NAME}.new"
        unfinished.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        sync(unfinished)
        os.rename(unfinished, backup / NAME)
        sync(backup)

    def _document(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}


def read_backup(backup: Path) -> BackupManifest:
    """The manifest of a backup. Raises Invalid if there is none, or none that this release reads."""
    path = backup / NAME
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise Invalid(
            f"{str(backup)!r} is no backup, or one that was not finished: it has no {NAME}",
            "name the directory that a backup was written to",
            code="backup_damaged",
        ) from None
    try:
        document = orjson.loads(content)
        stated, format = document.pop("sha256"), document.pop("format")
        if type(format) is not int or format > FORMAT:
            raise Invalid(
                f"{str(path)!r} has format {format}, and this release reads formats up to {FORMAT}",
                "restore it with the release that made it, or a newer one",
                code="backup_damaged",
            )
        files = tuple(BackupFile(**file) for file in document.pop("files"))
        found = BackupManifest(files=files, **document)
        is_whole = found.sha256 == stated and _is_sane(found)
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        raise Invalid(f"{str(path)!r} is damaged", _AGAIN, code="backup_damaged")
    return found


def _is_sane(manifest: BackupManifest) -> bool:
    """Whether a manifest, which anybody may have written, has what a backup has, and paths inside of it."""
    files = manifest.files
    texts = (manifest.made, manifest.release, manifest.revision, *(file.sha256 for file in files))
    counts = (manifest.epoch, *manifest.numbers.values(), *(file.size for file in files))
    return (
        all(type(text) is str for text in texts)
        and all(type(count) is int and 0 <= count < 1 << 63 for count in counts)
        and all(_PATH.fullmatch(file.path) and len(file.path) <= _LONGEST_PATH for file in files)
        and len({file.path for file in files}) == len(files)
    )


def verify(backup: Path, manifest: BackupManifest, passed: Passed) -> None:
    """Reads all files of a backup. Raises Invalid, with the name of the file, if one is not as it was."""
    for file in manifest.files:
        path = backup / file.path
        if not path.is_file() or not path.resolve().is_relative_to(backup.resolve()):
            raise Invalid(f"the backup's file {str(path)!r} is missing", _AGAIN, code="backup_damaged")
        if path.stat().st_size != file.size or hash_of(path, passed) != file.sha256:
            raise Invalid(
                f"the backup's file {str(path)!r} is damaged: its hash does not match",
                _AGAIN,
                code="backup_damaged",
            )
