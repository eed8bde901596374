"""Spares a process pandas, which pyarrow loads for its first value wherever pandas is installed.

That takes more time than a small load, and tens of megabytes, and a service has no frames. pyarrow asks for
pandas once, and again when a frame is really wanted (`to_pandas`): then it gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

import pyarrow as pa

_PANDAS = "pandas"


class _Nowhere(MetaPathFinder):
    """Says of pandas that it is not installed."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name == _PANDAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def leave_pandas_out() -> None:
    """Lets pyarrow ask for pandas now, in vain, unless something has loaded it. Call it at the start of a
    process, before there are threads; but not in one of little memory, for pyarrow's first value takes a
    gigabyte of addresses, which count as memory there."""
    if _PANDAS in sys.modules:
        return
    nowhere = _Nowhere()
    sys.meta_path.insert(0, nowhere)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(nowhere)
