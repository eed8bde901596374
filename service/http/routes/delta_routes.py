"""Changes of tables: `POST /v1/tables/{table}/deltas` and `POST /v1/deltas`.

These are the service's busiest routes. They are plain handlers without models, in a layer before all other
routes; `OPENAPI` describes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.changes.table_changes import Applied, ChangeOp, Idempotency, TableChanges
from service.decoding.parsing import (
    ARROW,
    BINARY,
    CSV,
    DEBEZIUM,
    JSON,
    NDJSON,
    PARQUET,
    check_type,
    parse,
    parse_several,
)
from service.definitions.definition import Definition
from service.errors import Invalid
from service.http.access import principal_of, timeline_of, turns_of
from service.http.bodies import receive
from service.http.branch_parameter import BRANCH, BRANCH_MEANING
from service.http.header_fields import field_of
from service.http.media_schemas import SCHEMAS, ChangesMade
from service.http.needs import CHANGES, Asked
from service.http.routes.strict import Handler, check_json, check_parameters
from service.names import fold_relation
from service.problems import DESCRIPTION, answered
from service.running.timeline import Timeline
from service.telemetry.exchange import reached

_LONGEST_KEY = 255
_TYPE = (b"content-type", JSON.encode())
_PRIVILEGES = {
    ChangeOp.INSERT: (Privilege.INSERT,),
    ChangeOp.DELETE: (Privilege.DELETE,),
    ChangeOp.UPSERT: (Privilege.INSERT, Privilege.UPDATE),
    ChangeOp.DISCARD: (Privilege.DELETE,),
}
"""What each change of a row needs."""


def _timeline(request: Request) -> Timeline:
    """What the request changes."""
    check_parameters(request, (BRANCH,))
    branch = request.query_params.get(BRANCH) if request.scope["query_string"] else None
    return timeline_of(request, branch)


async def change_table(request: Request) -> Response:
    timeline = _timeline(request)
    definition = timeline.definition(fold_relation(request.scope["asked"].parameters["table"]), view=False)
    content_type = field_of(request.scope, b"content-type") or ""
    media_type = check_type(content_type)

    def read(body: bytes) -> dict[str, TableChanges]:
        changes = parse(body, content_type, definition, timeline.dictionary, timeline.settings.budget)
        return {definition.name: changes}

    return await _change(request, timeline, read, media_type in BINARY)


async def change_tables(request: Request) -> Response:
    timeline = _timeline(request)
    check_json(request)

    def definition_of(name: str) -> Definition:
        principal_of(request).require_any(CHANGES, name)
        return timeline.definition(name, view=False)

    def read(body: bytes) -> dict[str, TableChanges]:
        return parse_several(body, definition_of, timeline.dictionary, timeline.settings.budget)

    return await _change(request, timeline, read, False)


async def _change(
    request: Request, timeline: Timeline, read: Callable[[bytes], dict[str, TableChanges]], may_grow: bool
) -> Response:
    """Applies the changes that `read` finds in the body."""
    key = _idempotency_key(request)
    body = await receive(request, timeline.settings.body_limit)
    reached("receive the body")

    def work() -> tuple[dict[str, TableChanges], Idempotency | None, int]:
        plain = body.plain()
        changes = read(plain)
        if key is None:
            return changes, None, len(plain)
        digest = hashlib.sha256(request.url.path.encode() + b"\0" + plain).digest()
        return changes, Idempotency.of(principal_of(request).id, key, digest), len(plain)

    held = timeline.dictionary.hold()
    changes, idempotency, size = await turns_of(request).work_on(body, work, may_grow)
    check_changes(timeline.accounts.renewed(principal_of(request)), changes)
    reached("decode")
    applied = await timeline.apply(changes, idempotency, size)
    del held
    return _answer(applied)


def check_changes(principal: Principal, changes: Mapping[str, TableChanges]) -> None:
    """Raises Forbidden unless the principal may make all of the changes, by table."""
    if principal.defines_all:
        return
    for table, part in changes.items():
        for op in np.unique(part.ops):
            for privilege in _PRIVILEGES[ChangeOp(op)]:
                principal.require(privilege, table)


def _idempotency_key(request: Request) -> str | None:
    key = field_of(request.scope, b"idempotency-key")
    if key is not None and not 0 < len(key) <= _LONGEST_KEY:
        raise Invalid(
            f"an Idempotency-Key has 1 to {_LONGEST_KEY} characters", code="invalid_idempotency_key"
        )
    return key


class _Acknowledgement(Response):
    """A body in JSON. The framework would find out for each one which headers it needs."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        self.raw_headers = [(b"content-length", b"%d" % len(self.body)), _TYPE]


def _answer(applied: Applied) -> Response:
    late = b',"late":%d' % applied.late if applied.late else b""
    body = b'{"epoch":%d,"changes":%d%b}' % (applied.epoch, applied.changes, late)
    return _Acknowledgement(body)


ROUTES = {"/v1/tables/{table}/deltas": change_table, "/v1/deltas": change_tables}
"""Handlers of POST by the template of their path."""


class Deltas:
    """A bare ASGI layer that answers these routes itself, and leaves the others to the router inside."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        asked: Asked | None = scope.get("asked")
        handler = None if asked is None or scope["method"] != "POST" else ROUTES.get(asked.path)
        if handler is None:
            return self._app(scope, receive, send)
        return _answered_by(handler, scope, receive, send)


async def _answered_by(handler: Handler, scope: Scope, receive: Receive, send: Send) -> None:
    try:
        response = await handler(Request(scope, receive))
    except Exception as error:
        response = answered(scope, error)
    await response(scope, receive, send)


_ROW = {"type": "object", "description": "Values by column."}
_CHANGE = {
    "oneOf": [
        {"type": "object", "required": [op], "properties": {op: _ROW}, "additionalProperties": False}
        for op in ("insert", "delete", "upsert")
    ]
}
_CHANGES = {"type": "array", "items": _CHANGE}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "maxLength": _LONGEST_KEY},
    "description": "A repetition with the same body gets the first answer, and nothing is applied "
    "twice. Each API key has its own.",
}
_BRANCH = {"name": BRANCH, "in": "query", "schema": {"type": "string"}, "description": BRANCH_MEANING}
_ANSWERS = {
    "200": {
        "description": "Durable, and visible in every view.",
        "content": {JSON: {"schema": ChangesMade.model_json_schema()}},
    },
    "4XX": DESCRIPTION | {"description": "Nothing was applied."},
    "5XX": DESCRIPTION,
}

OPENAPI: dict[str, dict] = {
    "/v1/tables/{table}/deltas": {
        "post": {
            "tags": ["tables"],
            "summary": "Change a table: one epoch, all or nothing",
            "operationId": "change_table",
            "description": "Insert, delete and upsert rows. Rows of CSV, Arrow and Parquet are inserts "
            "unless their column `_op` says `delete` or `upsert`.",
            "parameters": [
                {"name": "table", "in": "path", "required": True, "schema": {"type": "string"}},
                _BRANCH,
                _KEY,
            ],
            "requestBody": {
                "required": True,
                "content": {
                    JSON: {"schema": _CHANGES},
                    NDJSON: {"schema": SCHEMAS[NDJSON]},
                    DEBEZIUM: {"schema": {"type": "object", "description": "An envelope, or one a line."}},
                    CSV: {"schema": SCHEMAS[CSV]},
                    ARROW: {"schema": SCHEMAS[ARROW]},
                    PARQUET: {"schema": SCHEMAS[PARQUET]},
                },
            },
            "responses": _ANSWERS,
        }
    },
    "/v1/deltas": {
        "post": {
            "tags": ["tables"],
            "summary": "Change several tables in one epoch",
            "operationId": "change_tables",
            "description": "Insert, delete and upsert rows of several tables: all of them or none.",
            "parameters": [_BRANCH, _KEY],
            "requestBody": {
                "required": True,
                "content": {
                    JSON: {
                        "schema": {
                            "type": "object",
                            "required": ["tables"],
                            "properties": {"tables": {"type": "object", "additionalProperties": _CHANGES}},
                        }
                    }
                },
            },
            "responses": _ANSWERS,
        }
    },
}
