"""The app whose layers are our own: a request passes them, and then comes to its route.

The framework's outermost layers are left out: they answer errors, export telemetry and limit bodies. Ours do
that, and every request would pay for them. A layer that only looks at what comes in is no coroutine: it
returns that of the layer inside, and so costs one call.
"""

from __future__ import annotations

from collections.abc import Awaitable
from types import SimpleNamespace
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.routing import APIRouter, iter_route_contexts
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.needs import Asked


class LayeredApp(FastAPI):
    """`add_middleware` adds a layer around the others; the outermost ones have to answer every exception."""

    state: SimpleNamespace  # type: ignore[assignment]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # The framework's own object finds each of its attributes only after it has been missed.
        self.state = SimpleNamespace()

    def build_middleware_stack(self) -> ASGIApp:
        app: ASGIApp = AsyncExitStackMiddleware(FoundRoutes(self.router))
        app = ExceptionMiddleware(app, self.exception_handlers)
        for layer, arguments, options in reversed(self.user_middleware):
            # Python calls a method at once, and an object that can be called by a detour.
            app = layer(app, *arguments, **options).__call__
        return app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        scope["app"] = self
        await self.middleware_stack(scope, receive, send)


class FoundRoutes:
    """The routes of a router, which would try them all in their order. The layers outside have found the one
    that a request is for."""

    def __init__(self, router: APIRouter) -> None:
        self._router = router
        self._apps: dict[tuple[str, str], ASGIApp] = {
            (method, route.path): route.app
            for route in iter_route_contexts(router.routes)
            for method in route.methods or ()
            if route.path is not None
        }

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        asked: Asked | None = scope.get("asked")
        if asked is None:
            return self._router(scope, receive, send)
        scope["path_params"] = dict(asked.parameters)
        return self._apps[scope["method"], asked.path](scope, receive, send)
