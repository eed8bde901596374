"""Point reads of prepared statements, answered as they arrive: no task is woken, and nothing waits.

A session's statement is run in the usual way first. If it was a point read, its `PreparedRead` is kept with
the statement: the lookup, and how each word of a row becomes a field. From then on Bind, Execute and Sync
are one call, as long as nothing is different: the definitions, the rights, the search path, the types of the
values, and no block is open. Whatever is different, and every error, is left to the usual way.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from engine.errors import EngineError
from service.accounts.privileges import Privilege
from service.errors import ServiceError
from service.pgformats.data_rows import data_rows
from service.pgformats.word_fields import word_fields
from service.postgres import backend_messages as out
from service.postgres import frontend_messages as f
from service.postgres.client_session import ClientSession
from service.postgres.parameter_values import bound
from service.postgres.prepared_reads import PreparedRead
from service.postgres.prepared_statements import PreparedStatement, result_formats
from service.reading.point_reads import AT_ONCE
from service.reading.reads import check_health

_TOGETHER = 64
"""The most reads that are answered before others have their turn."""


class Serving(Protocol):
    """The protocol's state."""

    @property
    def is_between(self) -> bool:
        """Whether the session waits for the first message of a statement."""


class ReadsAtOnce:
    """Those of one session."""

    def __init__(self, session: ClientSession, serving: Serving) -> None:
        self._session = session
        self._serving = serving

    def answers(self, waiting: deque[f.Startup | f.Frontend]) -> bytes:
        """The answers to the point reads at the head of the messages, which are taken; empty if there are
        none."""
        found: list[bytes] = []
        while waiting and len(found) < _TOGETHER:
            answer = self._answer(waiting)
            if answer is None:
                break
            found.append(answer)
        return b"".join(found)

    def _answer(self, waiting: deque[f.Startup | f.Frontend]) -> bytes | None:
        """The answer to Bind, perhaps Describe, Execute and Sync; None if they are not all there, or if they
        have to take the usual way."""
        bind = waiting[0]
        if type(bind) is not f.BindMessage or bind.portal or len(waiting) < 3:
            return None
        describes = type(waiting[1]) is f.DescribeMessage
        if describes and (len(waiting) < 4 or waiting[1] != f.DescribeMessage("P", "")):
            return None
        execute, sync = waiting[1 + describes], waiting[2 + describes]
        if type(sync) is not f.Sync or type(execute) is not f.ExecuteMessage:
            return None
        if execute.portal or execute.limit > 0:
            return None
        statement = self._session.objects.statements.get(bind.statement)
        if statement is None or statement.read is None:
            return None
        answer = self._run(statement, statement.read, bind, describes)
        if answer is not None:
            for _ in range(3 + describes):
                waiting.popleft()
        return answer

    def _run(
        self, statement: PreparedStatement, prepared: PreparedRead, bind: f.BindMessage, describes: bool
    ) -> bytes | None:
        session, runs, runtime = self._session, self._session.runs, self._session.hall.runtime
        if (
            runtime is None
            or runs.block is not None
            or not self._serving.is_between
            or runs.principal is None
        ):
            return None
        readable = runtime.readable
        if not prepared.circumstances.hold(runtime, runs.reading):
            statement.read = None
            return None
        read = prepared.read
        if not runtime.accounts.is_current(runs.principal):
            return None
        if not runs.principal.may(Privilege.SELECT, read.definition.name):
            return None
        try:
            parameters = bound(bind, statement.types or (), statement.wanted, session.settings.zone)
            formats = result_formats(bind.result_formats, len(prepared.columns))
            writers = prepared.writers_for(formats)
            if writers is None or any(given.type is not None for given in parameters.given.values()):
                return None
            check_health(read.definition, readable.snapshot, readable.newest)
            found = read.run(readable.snapshot, readable.newest, parameters.given, AT_ONCE)
        except (ServiceError, EngineError):
            return None
        if found is None:
            return None
        fields = word_fields(found.words, writers, found.dictionary)
        session.objects.end_block()
        session.record.begin(statement.sql)
        session.record.rest()
        session.hall.metrics.postgres_statements.add(1, "SELECT")
        head = out.BOUND + out.row_description(prepared.columns, formats) if describes else out.BOUND
        tail = out.command_complete(f"SELECT {found.size}") + out.ready(b"I")
        return b"".join((head, *data_rows(fields, found.size), tail))
