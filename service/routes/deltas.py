"""Changes of tables: `POST /v1/tables/{table}/deltas` and `POST /v1/deltas`.

These are the service's hot routes. They are plain handlers, without models, and are
described for OpenAPI by hand, in `OPENAPI`.
"""

from __future__ import annotations

import hashlib

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from service import bodies
from service.access import runtime_of
from service.changes import Applied, Idempotency, TableChanges
from service.errors import Invalid
from service.names import fold
from service.parsing import ARROW, CSV, DEBEZIUM, JSON, NDJSON, PARQUET, loads, of_objects, parse
from service.runtime import Runtime

_LONGEST_KEY = 255


async def change_table(request: Request) -> Response:
    runtime = runtime_of(request)
    definition = runtime.definition(fold(request.path_params["table"]), view=False)
    limit = runtime.settings.body_limit
    body = await bodies.read(request, limit)
    content_type = request.headers.get("content-type", JSON)
    changes = await bodies.work_on(
        body, lambda: parse(body, content_type, definition, runtime.dictionary, limit)
    )
    return _answer(await runtime.apply({definition.name: changes}, _idempotency(request, body)))


async def change_tables(request: Request) -> Response:
    runtime = runtime_of(request)
    body = await bodies.read(request, runtime.settings.body_limit)
    changes = await bodies.work_on(body, lambda: _several(body, runtime))
    return _answer(await runtime.apply(changes, _idempotency(request, body)))


def _several(body: bytes, runtime: Runtime) -> dict[str, TableChanges]:
    """The changes by table that a body of `/v1/deltas` says."""
    document = loads(body)
    tables = document.get("tables") if isinstance(document, dict) else None
    if not isinstance(tables, dict) or len(document) != 1:  # type: ignore[arg-type]
        raise Invalid(
            "the body names no tables", '{"tables": {"name": [change, ...]}}', code="invalid_change"
        )
    changes: dict[str, TableChanges] = {}
    for name, part in tables.items():
        definition = runtime.definition(fold(name), view=False)
        if definition.name in changes:
            raise Invalid(f"table {definition.name} is named twice", code="invalid_change")
        changes[definition.name] = of_objects(part, definition, runtime.dictionary)
    return changes


def _idempotency(request: Request, body: bytes) -> Idempotency | None:
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not 0 < len(key) <= _LONGEST_KEY:
        raise Invalid(
            f"an Idempotency-Key has 1 to {_LONGEST_KEY} characters", code="invalid_idempotency_key"
        )
    digest = hashlib.sha256(request.url.path.encode() + b"\0" + body).digest()
    return Idempotency(key, digest)


def _answer(applied: Applied) -> Response:
    body = b'{"epoch":%d,"changes":%d}' % (applied.epoch, applied.changes)
    return Response(body, media_type=JSON)


ROUTES = [
    Route("/v1/tables/{table}/deltas", change_table, methods=["POST"]),
    Route("/v1/deltas", change_tables, methods=["POST"]),
]

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
    "description": "Sent again with the same body, the first answer comes back and nothing is applied twice.",
}
_ANSWERS = {
    "200": {
        "description": "Durable, and visible in every view.",
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["epoch", "changes"],
                    "properties": {"epoch": {"type": "integer"}, "changes": {"type": "integer"}},
                }
            }
        },
    },
    "4XX": {
        "description": "Nothing was applied.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    },
}
_BYTES = {"schema": {"type": "string", "format": "binary"}}

OPENAPI: dict[str, dict] = {
    "/v1/tables/{table}/deltas": {
        "post": {
            "tags": ["tables"],
            "summary": "Change a table: one epoch, all or nothing",
            "operationId": "change_table",
            "parameters": [
                {"name": "table", "in": "path", "required": True, "schema": {"type": "string"}},
                _KEY,
            ],
            "requestBody": {
                "required": True,
                "content": {
                    JSON: {"schema": _CHANGES},
                    NDJSON: {"schema": _CHANGE},
                    DEBEZIUM: {"schema": {"type": "object", "description": "Envelopes: one, or one a line."}},
                    CSV: {"schema": {"type": "string"}},
                    ARROW: _BYTES,
                    PARQUET: _BYTES,
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
            "parameters": [_KEY],
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
