"""A worker: a process that answers queries, one at a time, and cannot hurt the service.

The memory of its own that it may take is limited, and its priority may be low. It ends with the service,
whatever it is doing.

On the connection, the worker says once that it is ready. Then for each query it sends the answer: an Arrow
stream in pieces, a message each, and a last message with the outcome. The first byte tells them apart.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from contextlib import suppress
from dataclasses import dataclass
from io import RawIOBase
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from engine.processes.apart import limit_memory
from engine.processes.without_pandas import leave_pandas_out
from planner.adhoc.adhoc_query import AdhocQuery
from service.reading.duck import Carried, Duck
from service.reading.query_errors import out_of_memory
from service.reading.table_memory import TablePlaces, read_tables
from service.settings.query_limits import QueryLimits

PIECE, LAST = b"+", b"."
"""The first byte of a piece, and of a last message: the pickled `AnswerEnd`, or an error."""
_PIECE_BYTES = 1 << 20
_ROOM = 256 << 20
"""Bytes that a worker may take beyond its database's memory: for Python, Arrow and the stacks of threads."""


@dataclass(frozen=True)
class AskedQuery:
    """A query, and where its tables are. The descriptor of their memory follows, unless there are none."""

    query: AdhocQuery
    places: TablePlaces
    carried: Carried


@dataclass(frozen=True, eq=False)
class AnswerEnd:
    """The names and DuckDB types of an answer's columns, and the last piece of its rows."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    piece: bytes


@dataclass(frozen=True)
class WorkerRules:
    """What a worker may use; `niceness` lowers its priority."""

    limits: QueryLimits
    spill: Path
    niceness: int


def work(connection: Connection, rules: WorkerRules) -> None:
    """Answers queries until the connection ends."""
    leave_pandas_out()
    threading.Thread(target=_end_with_service, daemon=True).start()
    os.nice(rules.niceness)
    duck = Duck(rules.limits, rules.spill.resolve())
    os.chdir("/")  # the directory in which the service began may go, and DuckDB asks for its own
    duck.warm()
    limit_memory(rules.limits.memory + _ROOM)
    with suppress(EOFError, ConnectionError):  # the service has left, perhaps before it read all
        _serve(connection, duck, rules)


def _serve(connection: Connection, duck: Duck, rules: WorkerRules) -> None:
    connection.send_bytes(b"")
    while True:
        asked = connection.recv()
        tables = read_tables(recv_handle(connection), asked.places) if asked.places.names else {}
        outcome = _answer(duck, asked, tables, connection, rules.limits)
        tables.clear()
        connection.send_bytes(LAST + pickle.dumps(outcome))


def _answer(
    duck: Duck,
    asked: AskedQuery,
    tables: dict[str, pa.Table],
    connection: Connection,
    limits: QueryLimits,
) -> AnswerEnd | Exception:
    """Sends the rows of the answer but for the last piece. Returns the outcome, or the error."""
    try:
        with duck.reading(asked.query, tables, asked.carried) as reading:
            pieces = _Pieces(connection)
            with pyarrow.ipc.new_stream(pieces, reading.schema) as writer:
                for batch in reading.batches:
                    writer.write_batch(batch)
            return AnswerEnd(reading.names, reading.types, bytes(pieces.waiting))
    except MemoryError:
        return out_of_memory(limits)
    except Exception as error:
        return error.with_traceback(None)


def _end_with_service() -> None:
    """Waits for the end of the service, and ends this process."""
    service = multiprocessing.parent_process()
    if service is not None:
        service.join()
    os._exit(1)


class _Pieces(RawIOBase):
    """A file whose content is sent over a connection, but for what is `waiting` at the end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.waiting += data
        if len(self.waiting) >= _PIECE_BYTES:
            self._connection.send_bytes(PIECE + self.waiting)
            self.waiting.clear()
        return len(data)
