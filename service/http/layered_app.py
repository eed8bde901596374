"""The app whose layers are our own: a request passes them, and then comes to the framework's routes.

The framework's outermost layers are left out: they answer errors, export telemetry and limit bodies. Ours do
that, and every request would pay for them. A layer that only looks at what comes in is no coroutine: it
returns that of the layer inside, and so costs one call.
"""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send


class LayeredApp(FastAPI):
    """`add_middleware` adds a layer around the others; the outermost ones have to answer every exception."""

    def build_middleware_stack(self) -> ASGIApp:
        app: ASGIApp = AsyncExitStackMiddleware(self.router)
        app = ExceptionMiddleware(app, self.exception_handlers)
        for layer, arguments, options in reversed(self.user_middleware):
            app = layer(app, *arguments, **options)
        return app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        scope["app"] = self
        await self.middleware_stack(scope, receive, send)
