"""`python -m tests.service.failing FILE`: a service whose fsync fails as long as the file exists."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from service.process.commandline import main

_sync = os.fsync


def _fsync(descriptor: int) -> None:
    if _CONTROL.exists():
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    _sync(descriptor)


if __name__ == "__main__":
    _CONTROL = Path(sys.argv.pop(1))
    os.fsync = _fsync
    main()
