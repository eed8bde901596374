"""`python -m tests.forked.said`: says what process it is, and does what its last argument says."""

from __future__ import annotations

import gc
import os
import sys
import time

from service.telemetry import exchange

if __name__ == "__main__":
    umask = os.umask(0)
    assert __spec__ is not None
    files = [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    shown = {
        "arguments": sys.argv[1:],
        "FRESHET_SAID": os.environ.get("FRESHET_SAID"),
        "directory": os.getcwd(),
        "umask": oct(umask),
        "main": __spec__.name,
        "collects": gc.isenabled(),
        "threads": len(os.listdir("/proc/self/task")),
        "files": len(files),
        "hash": hash("freshet"),
        "process": exchange._process,
    }
    for name, value in shown.items():
        print(f"{name}={value}", file=sys.stderr, flush=True)
    match sys.argv[-1].split(maxsplit=1):
        case ["exit", what]:
            sys.exit(int(what) if what.isdecimal() else what.strip("'"))
        case ["fail"]:
            1 / 0  # noqa: B018
        case ["sleep"]:
            print("sleeps", file=sys.stderr, flush=True)
            time.sleep(600)
