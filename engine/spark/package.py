"""The engine as an archive, for workers of a cluster that do not share this machine's disk.

Spark unpacks it as a folder `engine` in a task's working directory. That is the first place where a worker
looks for packages, so it hides an engine installed in the worker's Python. It includes the compiled kernels;
a worker with another processor, Python or numba compiles its own.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from engine.kernels.compiled import SHIPPED, cache_directory

NAME = "engine.tar.gz"
PACKAGE = Path(__file__).parents[1]


def pack(directory: Path) -> str:
    """Write the archive; returns its path, `#`, and the name of the folder to unpack it to."""
    path = directory / NAME
    with tarfile.open(path, "w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as archive:
        for source in sorted(PACKAGE.rglob("*.py")):
            archive.add(source, source.relative_to(PACKAGE))
        for directory in (SHIPPED, cache_directory()):
            for compiled in sorted(directory.glob("*.code")):
                archive.add(compiled, Path("kernels", SHIPPED.name, compiled.name))
    return f"{path}#{PACKAGE.name}"
