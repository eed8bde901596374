"""Strict requests, for all routes: unknown parameters and bodies that are not JSON are refused.

`StrictRoute` checks before FastAPI reads parameters and body; hand-written routes call the same functions.
A body of another type is never tried as JSON, because any page may send a form or plain text to any address
without asking the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from planner.suggestions import did_you_mean
from service.decoding.parsing import JSON, media_type_of, unsupported_content_type
from service.errors import Invalid
from service.http.bodies import with_body_limit

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class StrictRoute(APIRoute):
    """A route that refuses unknown parameters, and bodies except JSON of up to `FRESHET_SQL_LIMIT` bytes."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        known = frozenset(field.alias for field in self.dependant.query_params)
        takes_body = self.body_field is not None or "requestBody" in (self.openapi_extra or {})

        async def strict(request: Request) -> Response:
            check_parameters(request, known)
            if takes_body:
                if has_body(request):
                    check_json(request)
                request = with_body_limit(request, request.app.state.settings.sql_limit)
            return await handle(request)

        return strict


def check_parameters(request: Request, known: Collection[str] = ()) -> None:
    """Raises Invalid for a query parameter that the route does not have."""
    for name in request.query_params:
        if name not in known:
            takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise Invalid(
                f"{request.url.path} has no parameter {name[:_LONGEST]!r}",
                did_you_mean(name[:_LONGEST], known, takes),
                code="unknown_parameter",
            )


def check_json(request: Request) -> None:
    """Raises UnsupportedFormat unless the content type is JSON."""
    given = media_type_of(request.headers.get("content-type", ""))
    if given != JSON and not (given.startswith("application/") and given.endswith("+json")):
        raise unsupported_content_type(given, (JSON,))


def has_body(request: Request) -> bool:
    """Whether a request has a body, even an empty chunked one."""
    headers = request.headers
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


_LONGEST = 100
"""The most characters of a client's input that a message repeats."""
