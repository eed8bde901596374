"""Exchanges: every request gets an id, is counted and timed, has a line in the log if one is wanted, and a
trace if traces are exported.

The outermost layer, so that it sees what the others refuse. An error that none of them has answered is
answered here, and so with its id too. It finds the route of the request, and leaves it in the scope for the
layers inside. It is a bare ASGI layer, because every request passes it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.header_fields import field_of
from service.http.needs import NEEDS, NeedsByPath
from service.metrics import Metrics
from service.problems import failed, shown_path
from service.telemetry.exchange import HttpExchange, current, new_id, request_id
from service.telemetry.journey import Journey
from service.telemetry.log_lines import log_request, requests
from service.telemetry.traces import Traces

_LEAST_LOGGED = {"none": 1_000, "failed": 400, "all": 0}
"""The least status whose requests are logged, by FRESHET_LOG_REQUESTS."""
_UNTRACED = frozenset({"/healthz", "/readyz", "/metrics"})
_PARENT = {b"traceparent": "traceparent", b"tracestate": "tracestate"}
_METHODS = frozenset({*(route.split(" ")[0] for route in NEEDS), "HEAD", "OPTIONS"})
_NO_ROUTE = "none"
_LEFT = 499
"""The status of a request whose client has left before its answer."""


class Exchanges:
    def __init__(
        self, app: ASGIApp, needs: NeedsByPath, metrics: Metrics, logged: str, traces: Traces | None
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._least_logged = _LEAST_LOGGED[logged]
        self._traces = traces
        self._needs = needs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = self._begun(scope)
        token = current.set(exchange)

        def told(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                self._answered(exchange, message["status"])
                identified = (b"x-request-id", exchange.id.encode())
                message = {**message, "headers": [*message.get("headers", ()), identified]}
            return send(message)

        try:
            await self._app(scope, receive, told)
        except Exception as error:
            if exchange.status:
                raise
            await failed(scope, error)(scope, receive, told)
        finally:
            self._ended(exchange)
            current.reset(token)

    def _begun(self, scope: Scope) -> HttpExchange:
        method, path, headers = scope["method"], scope["path"], scope["headers"]
        asked = self._needs.find("GET" if method == "HEAD" else method, path)
        scope["asked"] = asked
        route = _NO_ROUTE if asked is None else asked.path
        journey = None
        if self._traces is not None and route not in _UNTRACED:
            journey = Journey(
                {_PARENT[name]: value.decode("latin-1") for name, value in headers if name in _PARENT}
            )
        id = new_id() if field_of(scope, b"x-request-id") is None else request_id(headers)
        return HttpExchange(id, method, path, route, journey)

    def _answered(self, exchange: HttpExchange, status: int) -> None:
        """Counts the exchange when its answer begins; that of a feed ends much later."""
        exchange.answered(status)
        method = exchange.method if exchange.method in _METHODS else "other"
        metrics = self._metrics
        metrics.requests.add(1, exchange.route, method, str(exchange.status))
        metrics.request_seconds.observe(exchange.seconds, exchange.route, method)
        if exchange.code:
            metrics.problems.add(1, exchange.code)

    def _ended(self, exchange: HttpExchange) -> None:
        """Writes the line and the trace of an exchange whose answer is complete, or whose client has left."""
        if not exchange.status:
            self._answered(exchange, _LEFT)
        if exchange.status >= self._least_logged and requests.isEnabledFor(logging.INFO):
            log_request(exchange, shown_path(exchange.path))
        if exchange.journey is not None and self._traces is not None:
            self._traces.ended(exchange, exchange.journey)
