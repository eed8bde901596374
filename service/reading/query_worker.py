"""A worker: a process that answers queries, one at a time, and cannot hurt the service.

The memory of its own that it may take is limited, and its priority may be low. It ends with the service,
whatever it is doing.

On the connection, the worker says once that it is ready. Then for each question it sends the answer: an Arrow
stream in pieces, an empty message, and the names and types of the columns, or the error in their place.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import signal
import threading
from dataclasses import dataclass
from io import RawIOBase
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from planner.adhoc.adhoc_query import AdhocQuery
from service.reading.duck import Carried, Duck
from service.reading.query_errors import out_of_memory
from service.reading.table_memory import TablePlaces, read_tables
from service.settings.query_limits import QueryLimits

_PIECE = 1 << 20
_ROOM = 256 << 20
"""Bytes that a worker may take beyond its database's memory: for Python, Arrow and the stacks of threads."""


@dataclass(frozen=True)
class AskedQuery:
    """A query, and where its tables are. The descriptor of their memory follows, unless there are none."""

    query: AdhocQuery
    places: TablePlaces
    carried: Carried


@dataclass(frozen=True)
class WorkerRules:
    """What a worker may use; `niceness` lowers its priority."""

    limits: QueryLimits
    spill: Path
    niceness: int


def work(connection: Connection, rules: WorkerRules) -> None:
    """Answers questions until the connection ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_service, daemon=True).start()
    os.nice(rules.niceness)
    duck = Duck(rules.limits, rules.spill)
    duck.run(AdhocQuery("SELECT 1", ()), {})
    _limit_memory(rules.limits.memory + _ROOM)
    connection.send_bytes(b"")
    while True:
        try:
            question = connection.recv()
            tables = read_tables(recv_handle(connection), question.places) if question.places.names else {}
        except EOFError:
            return
        outcome = _answer(duck, question, tables, connection, rules.limits)
        tables.clear()
        connection.send_bytes(b"")
        connection.send_bytes(outcome)


def _answer(
    duck: Duck,
    question: AskedQuery,
    tables: dict[str, pa.Table],
    connection: Connection,
    limits: QueryLimits,
) -> bytes:
    """Sends the rows of the answer. Returns its names and types, or the error, pickled."""
    try:
        with duck.reading(question.query, tables, question.carried) as reading:
            pieces = _Pieces(connection)
            with pyarrow.ipc.new_stream(pieces, reading.schema) as writer:
                for batch in reading.batches:
                    writer.write_batch(batch)
            pieces.send()
            return pickle.dumps((reading.names, reading.types))
    except MemoryError:
        return pickle.dumps(out_of_memory(limits))
    except Exception as error:
        return pickle.dumps(error.with_traceback(None))


def _end_with_service() -> None:
    """Waits for the end of the service, and ends this process."""
    service = multiprocessing.parent_process()
    if service is not None:
        service.join()
    os._exit(1)


def _limit_memory(more: int) -> None:
    """Limits the process's own memory to what it has now and `more` bytes. Mapped tables do not count."""
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmData:"))
    most = (int(line.split()[1]) << 10) + more
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


class _Pieces(RawIOBase):
    """A file whose content is sent over a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._waiting += data
        if len(self._waiting) >= _PIECE:
            self.send()
        return len(data)

    def send(self) -> None:
        """Sends what waits."""
        if self._waiting:
            self._connection.send_bytes(self._waiting)
            self._waiting.clear()
