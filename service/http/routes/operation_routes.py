"""Operation of the service: health, readiness, status and metrics."""

from __future__ import annotations

import time
from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import choose_encoder
from starlette.responses import Response

from service.definitions.definition import Definition
from service.errors import Unavailable
from service.http.access import lanes_of, principal_of, reader_of, runtime_of
from service.http.media_schemas import StateOfService
from service.http.routes.strict import StrictRoute
from service.http.status_models import StatusModel
from service.pipeline.exports import KIND as EXPORT
from service.pipeline.jobs import STATES
from service.pipeline.loads import KIND as LOAD
from service.pipeline.pipeline import Pipeline
from service.running.process_memory import anonymous_bytes, resident_bytes
from service.running.runtime import Runtime

router = APIRouter(route_class=StrictRoute, tags=["operations"])

VERSION = version("freshet")
OPENMETRICS = "application/openmetrics-text"
_STARTED = time.monotonic()
Role = Annotated[
    Literal["any", "leader"], Query(description="`leader`: a standby, which makes no changes, is not ready.")
]


@router.get("/healthz", operation_id="check_health", response_model=StateOfService)
async def healthz() -> dict[str, str]:
    """200 as long as the process responds."""
    return {"status": "ok"}


@router.get("/readyz", operation_id="check_readiness", response_model=StateOfService)
async def readyz(request: Request, role: Role = "any") -> dict[str, str]:
    """200 from the end of recovery: `ready` as long as changes can be made, `standby` in a standby, which can
    be read. With `role=leader`, a standby answers 503."""
    runtime = runtime_of(request)
    if role == "any" and not runtime.leads:
        return {"status": "standby"}
    runtime.must_lead()
    if not runtime.is_running:
        raise Unavailable("the writer has stopped", "restart the service")
    return {"status": "ready"}


@router.get("/v1/status", operation_id="read_status", response_model=StatusModel)
async def status(request: Request) -> dict[str, object]:
    """The newest epoch, and figures about the service."""
    runtime = runtime_of(request)
    definitions = runtime.definitions().values()
    views = [d for d in definitions if d.is_view]
    seen = [view for view in views if principal_of(request).sees(view.name)]
    snapshot = runtime.snapshot
    pipeline: Pipeline | None = request.app.state.pipeline
    jobs = {} if pipeline is None else await lanes_of(request).figures.run(pipeline.jobs.counts)
    return {
        "leadership": await lanes_of(request).figures.run(leadership_of, runtime),
        "epoch": snapshot.upper - 1,
        "tables": len(definitions) - len(views),
        "views": len(views),
        "failed": await lanes_of(request).figures.run(failed, runtime, seen),
        "waiting": runtime.waiting,
        "loads": {state: jobs.get((LOAD, state), 0) for state in STATES},
        "exports": {state: jobs.get((EXPORT, state), 0) for state in STATES},
        "spark": {
            "session": "none" if pipeline is None else pipeline.sessions.state,
            "advances": advances(runtime),
        },
        "texts": len(runtime.dictionary),
        "memory_bytes": resident_bytes(),
        "memory_high_bytes": runtime.memory.high,
        "memory_high": runtime.memory.is_passed,
        "held": await lanes_of(request).figures.run(held_of, request),
        "uptime_seconds": round(time.monotonic() - _STARTED, 3),
        "version": VERSION,
    }


@router.get(
    "/metrics",
    operation_id="read_metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {OPENMETRICS: {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    """Metrics for Prometheus, in its text format or, if Accept prefers that, in OpenMetrics."""
    principal_of(request).require_reading_all(runtime_of(request).definitions())
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    text = await lanes_of(request).figures.run(encode, request.app.state.registry)
    return Response(text, media_type=media_type)


def leadership_of(runtime: Runtime) -> dict[str, object]:
    """The role of this service among those that share the catalog, and who leads them. Blocks."""
    leader = runtime.leader
    return {
        "role": "leader" if runtime.leads else "standby",
        "token": leader.token,
        "leader": leader.address,
        "lag": runtime.lag(),
    }


def failed(runtime: Runtime, views: list[Definition]) -> list[str]:
    """The names of the views that are no longer maintained, and are not being built again, sorted."""
    readable = runtime.readable
    return sorted(view.name for view in views if readable.has_failed(view))


def held_of(request: Request) -> dict[str, int]:
    """What the service holds, by kind."""
    runtime = runtime_of(request)
    engine, (log_bytes, log_commits) = runtime.held(), runtime.log
    return {
        "anonymous_bytes": anonymous_bytes(),
        "history_bytes": engine.history,
        "trace_bytes": engine.traces,
        "mapped_bytes": engine.mapped,
        "dictionary_bytes": engine.dictionary,
        "remembered_bytes": engine.remembered,
        "reading_bytes": reader_of(request, runtime).bytes,
        "differences": engine.differences,
        "texts": engine.texts,
        "log_bytes": log_bytes,
        "log_commits": log_commits,
    }


def advances(runtime: Runtime) -> dict[str, object]:
    """How many advances ran in the process and on Spark, and the reason for the last choice."""
    placement = runtime.placement
    return {} if placement is None else asdict(placement.tally)
