"""`python -m tests.forked.template`: a process that has loaded the service, and is forked for each start.

Its standard input is a socket at which all processes of a run of the tests call. A message asks for a start:
arguments as Python has them, an environment, a directory, and with it the files of the new process and a
pipe, which gets its exit code. The answer is its pid.
The template ends when the run does, whose pid is its argument; what it has started goes on.

It starts nothing before a fork, so it has one thread of Python, and its libraries have none that they do not
carry over a fork themselves: the service forks its own children from a process with the same libraries.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

from tests.forked import child_server

LOADED = (
    "service.process.commandline",
    "service.process.serving",
    "alembic.command",
    "sqlite3",
    "uvloop",
    "tests.forked.loaded_kernels",
    "tests.forked.started_service",
)
"""What every start loads, or makes once in a process."""
FILES = 4
"""Input, output, errors, and the pipe for the exit code."""
_MESSAGE = 1 << 18


@dataclass(frozen=True)
class Start:
    """What a new process is to be. The first of `arguments` is `-m`, as `interpreter` takes them."""

    arguments: list[str]
    environment: dict[str, str]
    directory: str
    umask: int

    def message(self) -> bytes:
        return json.dumps(vars(self)).encode()


class _Template:
    """Forks, and tells how what it has started ends."""

    def __init__(self, listener: socket.socket, run: int) -> None:
        self._listener = listener
        self._run = run
        self._callers: set[socket.socket] = set()
        self._events = selectors.DefaultSelector()
        self._events.register(listener, selectors.EVENT_READ)
        self._events.register(run, selectors.EVENT_READ)
        self._pipes: dict[int, int] = {}
        self._threads = _threads()

    def started(self) -> tuple[Start, list[int]] | None:
        """In each process that it starts: what that is to be, and its files. In the template itself: None,
        at its end."""
        while True:
            for key, _ in self._events.select():
                if key.fd == self._run:
                    return None
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj in self._callers:
                    caller = key.fileobj
                    assert isinstance(caller, socket.socket)
                    message, files, _, _ = socket.recv_fds(caller, _MESSAGE, FILES)
                    if not message:
                        self._leave(caller)
                    elif self._fork(caller, files):
                        return Start(**json.loads(message)), files[:-1]
                else:
                    self._tell_end(key.fd, key.data)

    def _accept(self) -> None:
        caller, _ = self._listener.accept()
        self._callers.add(caller)
        self._events.register(caller, selectors.EVENT_READ)

    def _leave(self, caller: socket.socket) -> None:
        self._events.unregister(caller)
        self._callers.discard(caller)
        caller.close()

    def _fork(self, caller: socket.socket, files: list[int]) -> bool:
        """Whether this is the new process."""
        assert threading.active_count() == 1 and _threads() <= self._threads
        pid = os.fork()
        if not pid:
            self._forget(files[-1])
            return True
        descriptor = os.pidfd_open(pid)
        self._pipes[descriptor] = files[-1]
        self._events.register(descriptor, selectors.EVENT_READ, pid)
        for file in files[:-1]:
            os.close(file)
        with suppress(BrokenPipeError):  # if the caller has ended meanwhile
            caller.send(str(pid).encode())
        return False

    def _tell_end(self, descriptor: int, pid: int) -> None:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._events.unregister(descriptor)
        pipe = self._pipes.pop(descriptor)
        with suppress(BrokenPipeError):  # if nobody waits for it
            os.write(pipe, str(code).encode())
        os.close(pipe)
        os.close(descriptor)

    def _forget(self, pipe: int) -> None:
        """Close what is the template's, and what is of others that it has started."""
        self._events.close()
        for each in (self._listener, *self._callers):
            each.close()
        for file in (self._run, pipe, *self._pipes, *self._pipes.values()):
            os.close(file)


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _become(start: Start, files: list[int]) -> None:
    """Make this process what a new interpreter would be."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(start.directory)
    os.umask(start.umask)
    os.environ.clear()
    os.environ.update(start.environment)
    if start.environment.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import_module("service.telemetry.exchange")._process = os.urandom(6).hex()
    import_module("service.http.routes.operation_routes")._STARTED = time.monotonic()
    child_server.fork()
    gc.enable()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for those that it has started
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # of the process that has started this one
    run = os.pidfd_open(int(sys.argv[1]))
    gc.disable()
    for name in LOADED:
        import_module(name)
    gc.freeze()
    listener = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    asked = _Template(listener, run).started()
    if asked is None:
        os._exit(0)  # what it has loaded need not be taken apart
    start, files = asked
    _become(start, files)
    sys.argv = start.arguments[1:]
    runpy.run_module(start.arguments[1], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
