"""COPY of a SUBSCRIBE: changes as they come, until UP TO is reached or the statement is cancelled.

All who are sent the same bytes share a relay. A client gets by itself only what is for it alone, the rows
that it begins with, and what is too large to be written in one piece.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from engine.runtime.engine import Snapshot
from planner.parsing.script import Piece
from service.accounts.principals import Principal
from service.definitions.definition import Definition
from service.pgformats.data_rows import AnswerRows
from service.postgres.client_session import ClientSession
from service.postgres.copy_sending import PIECE, CopyMessages, CopySending
from service.postgres.copy_statements import CopyFormat
from service.postgres.subscription_pages import SubscriptionForm, SubscriptionPage
from service.postgres.subscriptions import Subscription, limit_of
from service.reading.callers import Caller
from service.reading.duck import Answer
from service.reading.shared_work import SharedWork


async def copy_changes(session: ClientSession, piece: Piece, form: CopyFormat) -> int:
    """Sends the changes that a SUBSCRIBE follows. Returns the number of rows."""
    subscription = await session.subscription(piece)
    try:
        with session.runs.calling() as caller:
            sending = CopySending(session, form, subscription.columns)
            copying = _Copying(session, subscription, sending)
            await copying.run(caller)
        sending.end()
    finally:
        subscription.close()
    return copying.sent


@dataclass(frozen=True, eq=False)
class CopiedPage:
    """The changes up to epoch `until`; without `data`, each client's bytes are made for itself."""

    until: int
    answer: Answer
    data: bytes | None


@dataclass(frozen=True, eq=False)
class _CopyLine:
    """What clients that are sent the same bytes have in common."""

    definition: Definition
    last: int | None
    form: SubscriptionForm
    messages: CopyMessages
    shared: SharedWork

    @property
    def key(self) -> Hashable:
        return id(self.definition), self.last, self._kind

    @property
    def _kind(self) -> Hashable:
        return self.form.progress, self.messages.form, self.messages.zone

    async def page(self, snapshot: Snapshot, since: int) -> CopiedPage:
        limit, form = limit_of(snapshot, self.last), self.form
        relation = snapshot.relations[form.name]
        return await self.shared.once(
            relation,
            (self._kind, since, limit),
            lambda: self._copied(form.changes(snapshot, since, limit)),
        )

    def silence(self, until: int) -> CopiedPage | None:
        page = self.form.silence(until)
        return None if page is None else self._copied(page)

    def _copied(self, page: SubscriptionPage) -> CopiedPage:
        rows = AnswerRows(page.answer, self.messages.columns)
        data = self.messages.of(rows, 0, rows.size) if rows.size <= PIECE else None
        return CopiedPage(page.until, page.answer, data)


class _Copying:
    """A subscription whose changes are sent to a client. `sent` is the number of rows so far."""

    def __init__(self, session: ClientSession, subscription: Subscription, sending: CopySending) -> None:
        self.sent = 0
        self._session = session
        self._subscription = subscription
        self._sending = sending

    @property
    def principal(self) -> Principal:
        return self._subscription.principal

    @property
    def follows(self) -> str:
        return self._subscription.follows

    @property
    def since(self) -> int:
        return self._subscription.since

    async def run(self, caller: Caller) -> None:
        session, subscription = self._session, self._subscription
        line = _CopyLine(
            subscription.definition,
            subscription.last,
            subscription.form,
            self._sending.messages,
            session.hall.shared,
        )
        while not subscription.is_done:
            await session.outlet.drain()  # changes may be long in coming
            if subscription.has_own:
                rows = AnswerRows(await subscription.take_own(PIECE, caller), subscription.columns)
                await self._sending.send(rows)
                self.sent += rows.size
            else:
                await session.hall.relay(subscription.timeline).carry(line, self, caller)

    def take(self, until: int, page: CopiedPage | None) -> bool:
        """Writes a page, or keeps it if it is too large for that."""
        subscription, can_more = self._subscription, True
        subscription.took(until)
        if page is not None and page.data is None:
            subscription.keep(page.answer)
            return False
        if page is not None and page.data:
            can_more = self._sending.send_made(page.data)
            self.sent += page.answer.size
        return can_more and not subscription.is_done
