"""The console, the reference, and the OpenAPI document. They need nothing from elsewhere, not even a ready
service."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from service.http.reference.console_files import PAGE, console_file
from service.http.reference.markup import HEADERS
from service.http.reference.reference_page import reference_page
from service.http.routes.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, include_in_schema=False)


@router.get("/")
def console() -> Response:
    return console_file(PAGE)


@router.get("/console/{name:path}")
def console_part(request: Request, name: str) -> Response:
    return console_file(name, request.headers.get("accept-encoding", ""))


@router.get("/docs")
async def reference(request: Request) -> Response:
    return HTMLResponse(reference_page(request.app.openapi()), headers=HEADERS)


@router.get("/openapi.json")
async def openapi(request: Request) -> Response:
    return JSONResponse(request.app.openapi())
