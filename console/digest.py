"""The digests of the console's source and of its build: they tell a build that is not that of its source.

`python console/digest.py` writes both into the build; a test compares them, without Node.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

SOURCE = Path(__file__).resolve().parent
BUILT = SOURCE.parent / "service" / "console"
DIGESTS = BUILT / "digests.txt"
PARTS = (
    "index.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "brotli.ts",
    "notices.ts",
    "svelte.config.js",
    "src",
    "public",
)
"""What the build depends on."""


def digest(root: Path, paths: Iterable[Path]) -> str:
    """A digest of the files' names and contents."""
    found = sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        found.update(f"{path.relative_to(root).as_posix()}\n{len(content)}\n".encode() + content)
    return found.hexdigest()


def source_files() -> list[Path]:
    """The files of the source, tests left out."""
    files = [
        file
        for part in PARTS
        for file in ((SOURCE / part).rglob("*") if (SOURCE / part).is_dir() else [SOURCE / part])
    ]
    return [file for file in files if file.is_file() and not file.name.endswith(".test.ts")]


def built_files() -> list[Path]:
    return [file for file in BUILT.rglob("*") if file.is_file() and file != DIGESTS]


def digests() -> str:
    """Two lines: the source's digest and the build's."""
    return f"{digest(SOURCE, source_files())} source\n{digest(BUILT, built_files())} build\n"


if __name__ == "__main__":
    DIGESTS.write_text(digests())
