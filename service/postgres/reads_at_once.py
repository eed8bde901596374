"""Point reads of prepared statements, answered as they arrive: no task is woken, and nothing waits.

A session's statement is run in the usual way first. If it was a point read, its `PreparedRead` is kept with
the statement: the lookup, and how bytes become words and words become fields. From then on Bind, Execute and
Sync are one call, as long as nothing is different: the definitions, the rights, the search path, the types of
the values, and no block is open. Whatever is different, and every error, is left to the usual way.
"""

from __future__ import annotations

from typing import Protocol

from engine.errors import EngineError
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.errors import ServiceError
from service.postgres.client_session import ClientSession
from service.postgres.frontend_messages import BindMessage
from service.postgres.message_decoder import MessageDecoder
from service.reading.point_reads import AT_ONCE
from service.running.timeline import Timeline

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
        self._statements = session.hall.metrics.postgres_statements
        self._last = ""
        """The text of the newest statement that was answered."""

    def answers(self, decoder: MessageDecoder) -> bytes:
        """The answers to the point reads at the head of what has arrived, which are taken; empty if there are
        none."""
        session, runs = self._session, self._session.runs
        runtime, principal = session.hall.runtime, runs.principal
        if (
            runtime is None
            or principal is None
            or runs.block is not None
            or not self._serving.is_between
            or not runtime.accounts.is_current(principal)
        ):
            return b""
        try:
            timeline = runs.timeline
        except ServiceError:
            return b""
        found: list[bytes] = []
        while len(found) < _TOGETHER and (run := decoder.bound_run()) is not None:
            answer = self._answer(timeline, principal, *run)
            if answer is None:
                break
            decoder.take_run()
            found.append(answer)
        if found:
            session.objects.end_block()
            session.record.begin(self._last)
            session.record.rest()
            self._statements.add(len(found), "SELECT")
        return b"".join(found)

    def _answer(
        self, timeline: Timeline, principal: Principal, bind: BindMessage, is_described: bool
    ) -> bytes | None:
        """The answer to a run of a statement; None if it has to take the usual way."""
        statement = self._session.objects.statements.get(bind.statement)
        if statement is None or statement.read is None:
            return None
        prepared, snapshot = statement.read, timeline.readable.snapshot
        if not prepared.circumstances.hold(timeline, self._session.runs.reading):
            statement.read = None
            return None
        form = prepared.form(bind)
        if form is None or not principal.may(Privilege.SELECT, prepared.read.definition.name):
            return None
        try:
            given = form.given(bind.values)
            if given is None:
                return None
            prepared.check_health(snapshot)
            found = prepared.read.run(snapshot, None, given, AT_ONCE)
        except (ServiceError, EngineError):
            return None
        if found is None:
            return None
        self._last = statement.sql
        return form.answer(found, is_described)
