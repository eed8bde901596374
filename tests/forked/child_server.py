"""multiprocessing's server of children, forked where it would be started: that costs another load of all.

It has to come from a process with one thread. So it is forked before the service has any other, and waits to
be asked for. It becomes what it would be if the service started it: with its environment, umask and signals.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import socket
from collections.abc import Sequence
from multiprocessing import util

_PROGRAM = re.compile(r"from multiprocessing\.forkserver import main; main\((\d+), (\d+), .*\)", re.DOTALL)
_MESSAGE = 1 << 18
_HIGH = 500
"""More than the number of any file that is open so early."""


def fork() -> None:
    """Fork the process that becomes the server when multiprocessing starts one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if not pid:
        ours.close()
        _live(theirs)
        os._exit(0)
    theirs.close()
    spawn = util.spawnv_passfds

    def spawned(path: bytes, arguments: Sequence[str], files: Sequence[int]) -> int:
        program = _PROGRAM.fullmatch(arguments[-1])
        if program is None or ours.fileno() < 0:
            return spawn(path, arguments, files)
        os.umask(umask := os.umask(0o077))
        told = {"program": arguments[-1], "environment": dict(os.environ), "umask": umask}
        with ours:
            socket.send_fds(ours, [json.dumps(told).encode()], list(map(int, program.groups())))
        return pid

    util.spawnv_passfds = spawned  # type: ignore[assignment]


def _live(requests: socket.socket) -> None:
    """Wait to be asked for, or for the end of the service."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with requests:
        message, files, _, _ = socket.recv_fds(requests, _MESSAGE, 2)
    if not message:
        return
    told = json.loads(message)
    program = _PROGRAM.fullmatch(told["program"])
    assert program is not None
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _HIGH) for file in files]
    for file in files:
        os.close(file)
    for file, number in zip(moved, map(int, program.groups()), strict=True):
        os.dup2(file, number)
        os.close(file)
    os.umask(told["umask"])
    os.environ.clear()
    os.environ.update(told["environment"])
    exec(told["program"], {})
