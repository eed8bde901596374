"""The engine as an archive, for workers of a cluster that do not share our disk.

Unpacked as a folder `engine` where a task begins, which is the first place where a worker
looks for packages, it goes before an engine that the worker's Python may have. It brings the
kernels as they are compiled here; a worker of another processor, or with another Python or numba,
compiles its own.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from engine.kernels.compiled import SHIPPED, cache_directory

NAME = "engine.tar.gz"
PACKAGE = Path(__file__).parents[1]


def pack(directory: Path) -> str:
    """Writes the archive; its path, and after a `#` the folder that Spark is to unpack it to."""
    path = directory / NAME
    with tarfile.open(path, "w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as archive:
        for source in sorted(PACKAGE.rglob("*.py")):
            archive.add(source, source.relative_to(PACKAGE))
        for directory in (SHIPPED, cache_directory()):
            for compiled in sorted(directory.glob("*.code")):
                archive.add(compiled, Path("kernels", SHIPPED.name, compiled.name))
    return f"{path}#{PACKAGE.name}"
