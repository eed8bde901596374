"""A worker as the service sees it: a process that is asked one question at a time, and killed if it must be.

Workers are forked from a server process that has loaded their modules, so a new one is ready in a moment.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.connection import wait
from multiprocessing.reduction import send_handle
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from engine.patience import Patience
from engine.processes import children
from planner.adhoc.adhoc_query import AdhocQuery
from service.reading.duck import Answer, Carried
from service.reading.query_errors import EngineFault, out_of_time, worker_ended
from service.reading.query_worker import LAST, AnswerEnd, AskedQuery, WorkerRules, work
from service.reading.table_memory import TablePlaces, write_tables

_START_SECONDS = 60
_GRACE_SECONDS = 1
"""How long a worker may take to end a query that is out of time, before it is killed."""
children.preload("service.reading.query_worker")


class WorkerProcess:
    """Starts a process. One thread at a time asks it; any thread may kill it."""

    def __init__(self, rules: WorkerRules) -> None:
        self._limits = rules.limits
        self._spill = tempfile.mkdtemp(prefix="worker-", dir=rules.spill)
        self._connection, theirs = children.pipe()
        rules = replace(rules, spill=Path(self._spill))
        self._process = children.start("freshet-query", work, theirs, rules)
        theirs.close()
        self._is_ready = False
        self._is_in_use = False
        self._is_killed = False

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether the worker waits for a question, or begins and will."""
        if self._is_in_use or self._is_killed:
            return False
        if not self._is_ready:
            return not wait([self._process.sentinel], 0)
        return not self._connection.poll(0)  # a worker that waits says nothing: only its end can be read

    def ask(self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried) -> Answer:
        """The answer to a query. Raises what `QueryEvaluator.run` raises, and Unavailable if the process
        ends."""
        self._is_in_use = True
        try:
            self._await_ready()
            self._send(query, tables, carried)
            pieces, last = self._received(Patience(self._limits.seconds + _GRACE_SECONDS))
        except (EOFError, ConnectionError):
            raise worker_ended(self._signal()) from None
        outcome: AnswerEnd | Exception = pickle.loads(last)
        self._is_in_use = isinstance(outcome, EngineFault)  # then its database cannot be used any more
        if isinstance(outcome, Exception):
            raise outcome
        rows = b"".join([*pieces, outcome.piece]) if pieces else outcome.piece
        return Answer(outcome.names, outcome.types, pyarrow.ipc.open_stream(rows).read_all())

    def kill(self) -> None:
        """Ends the process, whatever it is doing. Does not wait for its end."""
        self._is_killed = True
        self._process.kill()

    def discard(self) -> None:
        """Ends the process, waits for its end, and removes its files."""
        self.kill()
        children.join(self._process)
        self._connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def _await_ready(self) -> None:
        if self._is_ready:
            return
        if not self._connection.poll(_START_SECONDS):
            self.kill()
        self._connection.recv_bytes()
        self._is_ready = True

    def _send(self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried) -> None:
        if not tables:
            self._connection.send(AskedQuery(query, TablePlaces(), carried))
            return
        descriptor, places = write_tables(tables)
        try:
            self._connection.send(AskedQuery(query, places, carried))
            send_handle(self._connection, descriptor, self._process.pid)
        finally:
            os.close(descriptor)

    def _received(self, patience: Patience) -> tuple[list[memoryview], memoryview]:
        """The pieces of the answer's rows, and the pickled outcome. Raises Invalid if they take too
        long."""
        pieces: list[memoryview] = []
        while True:
            if not patience.wait(self._connection.poll):
                self.kill()
                raise out_of_time(self._limits)
            message = memoryview(self._connection.recv_bytes())
            if message[:1] == LAST:
                return pieces, message[1:]
            pieces.append(message[1:])

    def _signal(self) -> int | None:
        """The signal that has ended the process, if it was one."""
        children.join(self._process)
        code = self._process.exitcode
        return -code if code is not None and code < 0 else None
