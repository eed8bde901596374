"""Errors as responses: RFC 9457 `application/problem+json`, for every exception that a request raises.

Internal errors are not shown to clients: the log has them, and the response is a 500 without details.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Scope

from engine.errors import EngineError
from planner.errors import PlannerError
from service.concealing import conceal
from service.errors import Problem, ServiceError, as_seen, problem_of
from service.telemetry.exchange import note_problem

MEDIA_TYPE = "application/problem+json"
DESCRIPTION: dict[str, Any] = {
    "description": "A problem (RFC 9457).",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
"""How the OpenAPI document describes an answer of status 400 or above."""
INTERNAL = Problem(500, ServiceError.code, "something went wrong inside the service; its log says what")
_log = logging.getLogger("freshet.http")


def members(problem: Problem) -> dict[str, object]:
    """The members of a problem document."""
    found: dict[str, object] = {
        "type": f"urn:freshet:problem:{problem.code}",
        "title": problem.code.replace("_", " ").capitalize(),
        "status": problem.status,
        "detail": _encodable(problem.detail),
        "code": problem.code,
        "hint": _encodable(problem.hint),
    }
    if problem.line is not None:
        found["position"] = {"line": problem.line, "column": problem.column}
    return found


def _encodable(text: str) -> str:
    """The text, with question marks for halves of characters that a client has sent."""
    return text.encode(errors="replace").decode()


def response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The problem as a response, with the headers of its status: Retry-After if the request may succeed
    later, WWW-Authenticate if it needs a key."""
    note_problem(problem.code)
    headers = dict(headers or {})
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.status in (429, 503):
        headers["Retry-After"] = "1"
    return Response(problem_document(problem), problem.status, headers, MEDIA_TYPE)


def problem_document(problem: Problem) -> bytes:
    """The problem document as bytes."""
    return orjson.dumps(members(problem))


def refused(error: ServiceError) -> Response:
    """The response of a layer that refuses a request before the app sees it."""
    return response(problem_of(error) or INTERNAL)


def install(app: FastAPI) -> None:
    """Makes the app answer every exception with a problem."""
    for kind in (ServiceError, EngineError, PlannerError, ClientDisconnect):
        app.add_exception_handler(kind, _any)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)


def shown_path(path: str) -> str:
    """The path as the log shows it, without line breaks."""
    return conceal(ascii(path)[1:-1])


def _asked(request: Request) -> str:
    """The request as the log shows it: method and path."""
    return f"{shown_path(request.method)} {shown_path(request.url.path)}"


def failed(scope: Scope, error: Exception) -> Response:
    """The response to a request that an exception has ended, which the log gets unless it is the client's."""
    error = _seen(scope, error)
    problem = problem_of(error)
    if problem is None or isinstance(error, SQLAlchemyError):
        _log.error("%s failed", _asked(Request(scope)), exc_info=error)
    return response(problem or INTERNAL)


def answered(scope: Scope, error: Exception) -> Response:
    """The response to an exception of a route that is not the framework's."""
    return _left(scope) if isinstance(error, ClientDisconnect) else failed(scope, error)


def _seen(scope: Scope, error: Exception) -> Exception:
    """The error as whoever has sent the request may read it."""
    principal = scope.get("principal")
    return error if principal is None else as_seen(error, principal)


async def _any(request: Request, error: Exception) -> Response:
    return answered(request.scope, error)


def _left(scope: Scope) -> Response:
    """Ends a request whose client is gone. Nobody reads the status 499; the metrics count it."""
    _log.info("%s: the client left before the request was complete", _asked(Request(scope)))
    return Response(status_code=499)


async def _http(request: Request, error: Exception) -> Response:
    """Handles what the framework refuses: unknown paths and methods, and bodies that it cannot read."""
    if isinstance(error.__cause__, (ServiceError, ClientDisconnect)):
        return answered(request.scope, error.__cause__)
    if isinstance(error.__cause__, RecursionError):
        return response(Problem(400, code="invalid_json", detail="the body is nested too deep"))
    status = getattr(error, "status_code", 500)
    detail = conceal(
        f"{request.method} {request.url.path}: {getattr(error, 'detail', '')}".rstrip(": ").lower()
    )
    headers = getattr(error, "headers", None)
    if status == 404:
        return response(Problem(404, code="no_such_route", detail=detail), headers)
    if status == 405:
        return response(Problem(405, code="method_not_allowed", detail=detail), headers)
    return response(Problem(status, code="bad_request", detail=detail), headers)


async def _validation(request: Request, error: Exception) -> Response:
    """Reports the first fault that FastAPI found in a body or a parameter."""
    found = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    if found.get("type") == "json_invalid":
        reason = str(found["ctx"]["error"]).lower()
        return response(Problem(400, code="invalid_json", detail=f"the body is not JSON: {reason}"))
    place = ".".join(str(part) for part in found.get("loc", ()))
    reason = str(found.get("msg", "not valid"))
    detail = conceal(f"{place}: {reason[:1].lower()}{reason[1:]}")
    return response(Problem(422, code="invalid_request", detail=detail))
