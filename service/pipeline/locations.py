"""Locations of clients' data: paths and addresses under the roots, as Spark takes them.

A local path is resolved through links and `..` before it is compared. The service finds the files and names
them to Spark one by one, so Spark follows and expands nothing itself. The service's own files are never a
client's data. An address (`s3a://...`, `jdbc:...`) must begin with a root that is an address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from service.errors import Invalid
from service.pipeline.paths import resolve
from service.settings.settings import Settings

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WILD = re.compile(r"[*?\[]")
_SPECIAL = re.compile(r"([\\*?\[\]{}^,])")
_PLAIN = re.compile(r"[\w./:=,*@+-]*")
_OWN = re.compile(r"lock|freshet\.db.*|spark")
BACKUP_MARK = "FRESHET_BACKUP"
"""A file that a backup's directory has from the beginning. What is in there may be for nobody's eyes."""


@dataclass(frozen=True)
class Location:
    """Where data is: paths as Spark takes them. Directories below `base` such as `day=1` become columns."""

    paths: tuple[str, ...] = ()
    base: str = ""


def to_read(path: str, settings: Settings) -> Location:
    """The files that a path leads to; it may contain `*`, `?`, `[...]` and `**`. Raises Invalid."""
    if is_address(path):
        return Location((allowed_address(path, settings),))
    parts = Path(path).parts
    wild = next((i for i, part in enumerate(parts) if _WILD.search(part)), len(parts))
    if ".." in parts[wild:]:
        raise Invalid(f"{path!r} has .. after a wildcard", code="path_not_allowed")
    base = resolve(str(Path(*parts[:wild])), settings.roots)
    matches = sorted(base.glob(str(Path(*parts[wild:])))) if wild < len(parts) else [base]
    files = [file for match in matches if match.exists() for file in _files(match, settings, frozenset())]
    if not files:
        raise Invalid(f"there is no file at {path!r}", code="path_not_found")
    return Location(tuple(map(local, files)), base=f"file://{base if base.is_dir() else base.parent}")


def to_write(path: str, settings: Settings) -> Path:
    """The directory that a path leads to, which need not exist and is not a root. Raises Invalid."""
    found = resolve(path, settings.roots)
    _check_own(found, path, settings)
    if any(root.resolve().is_relative_to(found) for root in settings.roots):
        raise Invalid(f"{path!r} is a root itself", "name a directory under it", code="path_not_allowed")
    return found


def to_watch(path: str, settings: Settings) -> Path:
    """The directory that a path leads to, which Spark lists again and again. Raises Invalid."""
    found = resolve(path, settings.roots)
    _check_own(found, path, settings)
    if settings.data.resolve().is_relative_to(found):
        raise Invalid(f"{path!r} contains the service's own files", code="path_not_allowed")
    if not found.is_dir():
        raise Invalid(f"there is no directory at {path!r}", code="path_not_found")
    if _SPECIAL.search(str(found)):
        raise Invalid(f"{path!r} has a character that Spark takes as a pattern", code="path_not_allowed")
    return found


def is_address(path: str) -> bool:
    return _ADDRESS.match(path) is not None


def allowed_address(address: str, settings: Settings) -> str:
    """The address, if it is under a root that is an address. Raises Invalid."""
    for root in settings.remote_roots:
        rest = address.removeprefix(root)
        inside = len(rest) < len(address) and (not rest or root.endswith("/") or rest[0] in "/:;")
        if inside and _PLAIN.fullmatch(rest) and ".." not in re.split("[/,]", rest):
            return address
    raise Invalid(
        f"{address!r} is not under an address that this service may use",
        "FRESHET_LOAD_ROOTS lists them; what follows a root may have letters, digits and ./:=,*@+-_ only",
        code="path_not_allowed",
    )


def local(path: Path) -> str:
    """A local path as Spark reads it, with the characters of patterns escaped."""
    return url(Path(_SPECIAL.sub(r"\\\1", str(path))))


def url(path: Path) -> str:
    """A local path as Spark writes to it."""
    return f"file://{path}"


def _files(path: Path, settings: Settings, above: frozenset[Path]) -> Iterator[Path]:
    """The files at and below a path, without those in directories that Spark takes for hidden."""
    real = resolve(str(path), settings.roots)
    _check_own(real, str(path), settings)
    if not real.is_dir():
        yield path
        return
    if real in above:
        raise Invalid(f"{str(path)!r} is a link to a directory above it", code="path_not_allowed")
    for name in sorted(os.listdir(real)):
        if not (name.startswith(".") or (name.startswith("_") and "=" not in name)):
            yield from _files(path / name, settings, above | {real})


def _check_own(real: Path, path: str, settings: Settings) -> None:
    """Raises Invalid for the service's own files, and for those of backups."""
    data = settings.data.resolve()
    inside = real.relative_to(data).parts if real.is_relative_to(data) else ()
    if any((directory / BACKUP_MARK).exists() for directory in (real, *real.parents)):
        raise Invalid(f"{path!r} is a backup, or lies in one", "choose another path", code="path_not_allowed")
    if real.is_relative_to(settings.state.resolve()) or (inside and _OWN.fullmatch(inside[0])):
        raise Invalid(f"{path!r} belongs to the service", code="path_not_allowed")
