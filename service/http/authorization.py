"""Authorization: finds out who sends a request, and refuses what the sender may not do.

It stands between CORS, whose preflights have no key, and the routes, which find the principal in the scope.
While no key was ever made, everybody is an admin. A request with a wrong key waits a moment for its refusal;
one without a key is refused at once. A bare ASGI layer, because every request passes it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from types import SimpleNamespace

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.accounts.accounts import Accounts
from service.accounts.audit import Act, acting
from service.accounts.principals import ANYONE, Principal
from service.accounts.slowing import Slowing
from service.concealing import conceal
from service.errors import Forbidden, Problem, ServiceError, Unauthenticated, Unavailable
from service.http.needs import Asked, Need, NeedsByPath, Parameters
from service.problems import refused, response
from service.running.runtime import Runtime
from service.telemetry.exchange import note_key

_log = logging.getLogger("freshet.accounts")
_SCHEME = "bearer "


class Authorization:
    def __init__(self, app: ASGIApp, needs: NeedsByPath, state: SimpleNamespace) -> None:
        self._app = app
        self._state = state
        self._needs = needs
        self._slowing = Slowing()

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        found: Asked | None = scope["asked"]
        if found is not None and found.need.check is None:
            return self._app(scope, receive, send)
        runtime: Runtime | None = self._state.runtime
        if runtime is None:
            reason = "the service is not ready: it is recovering its state"
            return refused(Unavailable(reason, "try again soon"))(scope, receive, send)
        if runtime.accounts.are_needed:
            return self._by_key(runtime.accounts, scope, receive, send)
        return self._admitted(ANYONE, scope, receive, send)

    async def _by_key(self, accounts: Accounts, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            principal = await self._principal(accounts, scope)
        except ServiceError as error:
            await refused(error)(scope, receive, send)
            return
        await self._admitted(principal, scope, receive, send)

    def _admitted(self, principal: Principal, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        scope["principal"] = principal
        note_key(principal.id)
        found: Asked | None = scope["asked"]
        if found is None:
            return self._unknown(scope, receive, send)
        if found.need.audited:
            return self._audited(found.need, found.parameters, scope, receive, send)
        return self._checked(found.need, found.parameters, scope, receive, send)

    async def _principal(self, accounts: Accounts, scope: Scope) -> Principal:
        """Who sends the request. Raises Unauthenticated or Overloaded."""
        text = key_of(scope)
        if text is None:
            raise Unauthenticated("the request has no key", "send it as Authorization: Bearer fr_...")
        try:
            principal = accounts.principal(text)
        except Unauthenticated:
            address = address_of(scope)
            _log.warning("%s: a key that is not valid", address)
            await self._slowing.failed(address)
            raise
        if accounts.is_use_due(principal.id):
            await self._state.lanes.jobs.run(accounts.note_use, principal.id)
        return principal

    def _checked(
        self, need: Need, parameters: Parameters, scope: Scope, receive: Receive, send: Send
    ) -> Awaitable[None]:
        principal: Principal = scope["principal"]
        try:
            if need.check is not None and not principal.is_admin:
                need.check(principal, parameters)
        except ServiceError as error:
            if isinstance(error, Forbidden):
                _log.warning("%s: %s", address_of(scope), conceal(error.message))
            return refused(error)(scope, receive, send)
        return self._app(scope, receive, send)

    async def _audited(
        self, need: Need, parameters: Parameters, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Lets the request pass as an act, which has an entry in the audit log when the request has ended."""
        outcome = "500"

        async def seen(message: Message) -> None:
            nonlocal outcome
            if message["type"] == "http.response.start":
                status = message["status"]
                outcome = "done" if status < 400 else str(status)
            await send(message)

        act = Act(scope["principal"], address_of(scope), f"{scope['method']} {scope['path']}")
        token = acting.set(act)
        try:
            await self._checked(need, parameters, scope, receive, seen)
        finally:
            acting.reset(token)
            if (not act.is_recorded or outcome != "done") and self._state.runtime is not None:
                accounts = self._state.runtime.accounts
                await asyncio.shield(self._state.lanes.jobs.run(accounts.record, act, outcome))

    async def _unknown(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request that no route takes, so that a route which is not declared stays closed."""
        what = conceal(f"{scope['method']} {scope['path']}".lower())
        methods = self._needs.methods(scope["path"])
        if methods:
            hint = f"this route takes {', '.join(methods)}"
            problem = Problem(405, code="method_not_allowed", detail=f"{what}: method not allowed", hint=hint)
            await response(problem, {"Allow": ", ".join(methods)})(scope, receive, send)
            return
        await response(Problem(404, code="no_such_route", detail=f"{what}: not found"))(scope, receive, send)


def key_of(scope: Scope) -> str | None:
    """The text of the request's key; None without one. A header of another form is a text that is no key."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if not given:
        return None
    text = given[0].decode("latin-1")
    return text[len(_SCHEME) :].strip() if text[: len(_SCHEME)].lower() == _SCHEME and len(given) == 1 else ""


def address_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
