"""The app: its routes, and a runtime that opens when the app starts and closes when it ends.

`create_app` connects to nothing. With `on_failure`, the app answers while the runtime recovers: until the
runtime is ready, every route but `/healthz` returns 503 `not_ready`; if recovery fails, the app logs the
reason and calls `on_failure`. Without `on_failure`, the app's start waits for the runtime and fails with it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from engine.spark.sessions import Sessions
from service import problems
from service.backup.backups import Backups
from service.clock import Time, system_time
from service.derivations.prepared_program import PreparedPrograms
from service.errors import start_failure
from service.exposition.otlp_switch import Otlp, otlp_of
from service.exposition.scrape_registry import registry_of
from service.http.authorization import Authorization
from service.http.bodies import Turns
from service.http.catalog_feed import CatalogWatch
from service.http.compression import Compression
from service.http.exchanges import Exchanges
from service.http.feeds import Feeds
from service.http.gate import Gate
from service.http.heads import Heads
from service.http.layered_app import LayeredApp
from service.http.needs import NeedsByPath, check_declared
from service.http.origins import Origins
from service.http.path_names import PathNames
from service.http.reference.openapi_document import openapi_document, operation_id
from service.http.routes import account_routes as accounts
from service.http.routes import backup_routes as backups
from service.http.routes import branch_routes as branches
from service.http.routes import catalog_routes as catalog
from service.http.routes import change_routes as changes
from service.http.routes import check_routes as checks
from service.http.routes import delta_routes as deltas
from service.http.routes import dialect_routes as dialects
from service.http.routes import epoch_routes as epochs
from service.http.routes import export_routes as exports
from service.http.routes import insight_routes as insight
from service.http.routes import load_routes as loads
from service.http.routes import operation_routes as operations
from service.http.routes import page_routes as pages
from service.http.routes import replacement_routes as replacements
from service.http.routes import replay_routes as replays
from service.http.routes import row_routes as rows
from service.http.routes import sink_routes as sinks
from service.http.routes import source_routes as sources
from service.http.routes import sql_routes as sql
from service.http.routes import table_routes as tables
from service.http.routes import view_routes as views
from service.http.routes import why_routes as reasons
from service.metrics import Metrics
from service.pipeline.outside_statements import OutsideStatements
from service.pipeline.pipeline import Pipeline
from service.postgres.hall import Hall
from service.postgres.postgres_server import PostgresServer
from service.reading.feed_pages import FeedPages
from service.reading.lanes import Lanes
from service.reading.queries import Queries
from service.reading.reads import Reader
from service.running.instance import Deposing
from service.running.process_memory import MemoryMark
from service.running.runtime import Runtime
from service.settings.settings import Settings
from service.sql.open_sessions import OpenSessions
from service.sql.script_door import SqlDoor
from service.telemetry.journey import RecentCommits

_log = logging.getLogger("freshet.app")
_WARMING_SECONDS = 3.0
"""After the start, until the workers of queries are started."""

ROUTERS = (
    sql.router,
    dialects.router,
    tables.router,
    views.router,
    checks.router,
    replays.router,
    reasons.router,
    rows.router,
    changes.router,
    epochs.router,
    catalog.router,
    loads.router,
    exports.router,
    sources.router,
    sinks.router,
    accounts.router,
    backups.router,
    branches.router,
    replacements.router,
    insight.router,
    operations.router,
    pages.router,
)

_ASKED_HEADERS = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Content-Encoding",
    "Idempotency-Key",
    "Last-Event-ID",
    "X-Request-Id",
    "Traceparent",
    "Tracestate",
)
_TOLD_HEADERS = (
    "Freshet-Count",
    "Freshet-Epoch",
    "Freshet-Statement",
    "Location",
    "Retry-After",
    "X-Request-Id",
)
"""Headers that pages of `FRESHET_ORIGINS` may send and read, besides those that every page may."""


def create_app(
    settings: Settings,
    on_failure: Callable[[], None] | None = None,
    sessions: Sessions | None = None,
    time: Time = system_time,
    otlp: Otlp | None = None,
    on_deposed: Deposing = lambda: None,
    postgres: socket.socket | None = None,
    certificate: Callable[[], ssl.SSLContext] | None = None,
) -> FastAPI:
    """The service as an ASGI app.

    The app uses Spark `sessions` that are passed in, and leaves them open. `time` is its clock. Without
    `otlp`, the environment says what is exported. `on_deposed` is called when another service has taken its
    place: then it has to end without doing anything more. PostgreSQL's clients connect to the socket
    `postgres`, with TLS if there is a `certificate`.
    """
    own = Sessions(settings.spark_options)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.loop = asyncio.get_running_loop()
        starting = partial(
            Runtime.open,
            settings,
            app.state.metrics,
            app.state.memory,
            sessions or own,
            time,
            on_deposed,
            partial(_open_pipeline, app, sessions or own),
        )
        door = PostgresServer(Hall(app.state, certificate))
        app.state.postgres = door
        if postgres is not None:
            await door.start(postgres)
        opening = asyncio.create_task(_open(app, starting, sessions or own, on_failure is not None))
        if on_failure is None:
            await opening
        else:
            opening.add_done_callback(partial(_opened, on_failure))
        try:
            yield
        finally:
            await asyncio.wait([opening])
            if app.state.warming is not None:
                app.state.warming.cancel()
            await door.stop()
            app.state.turns.close()
            runtime, app.state.runtime = app.state.runtime, None
            if runtime is not None:
                await asyncio.to_thread(runtime.stop_following)
                await asyncio.to_thread(app.state.queries.close)
                if app.state.pipeline is not None:
                    await asyncio.to_thread(app.state.backups.close)
                    await asyncio.to_thread(app.state.pipeline.close)
                await asyncio.to_thread(runtime.close)
            await asyncio.to_thread(own.stop)
            await asyncio.to_thread(app.state.otlp.close)
            app.state.lanes.close()

    app = LayeredApp(
        routes=_routes().routes,
        title="Freshet",
        summary="SQL views, recursive ones too, kept up to date.",
        version=operations.VERSION,
        lifespan=lifespan,
        openapi_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # `service/exposition` has them
    )
    app.state.runtime = app.state.loop = app.state.pipeline = app.state.warming = None
    app.state.settings = settings
    app.state.memory = MemoryMark(settings.memory_high)
    app.state.turns = Turns(app.state.memory)
    app.state.lanes = Lanes()
    app.state.prepared_programs = PreparedPrograms()
    app.state.sessions = OpenSessions()
    app.state.otlp = otlp_of(os.environ) if otlp is None else otlp
    app.state.metrics = Metrics(commits=RecentCommits() if app.state.otlp.traces else None)
    _install_layers(app, settings)
    problems.install(app)
    check_declared(_declared(app))
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


@cache
def _routes() -> APIRouter:
    """The routes, which are the same for every app of the process: they find their app in the request. The
    framework makes much of each."""
    routes = APIRouter(
        generate_unique_id_function=operation_id,
        responses=dict.fromkeys(("4XX", "5XX"), problems.DESCRIPTION),
    )
    for router in ROUTERS:
        routes.include_router(router)
    return routes


def _install_layers(app: LayeredApp, settings: Settings) -> None:
    """Adds the middleware that requests pass before the routes, the outermost last."""
    needs = NeedsByPath()
    app.add_middleware(deltas.Deltas)
    app.add_middleware(Compression, lane=app.state.lanes.answers)
    app.add_middleware(Authorization, needs=needs, state=app.state)
    app.add_middleware(Heads)
    if settings.origin_names:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origin_names,
            allow_methods=("GET", "HEAD", "POST", "DELETE"),
            allow_headers=_ASKED_HEADERS,
            expose_headers=_TOLD_HEADERS,
        )
    origins = Origins(settings.host, settings.host_names, settings.origin_names)
    app.add_middleware(Gate, body_limit=settings.body_limit, origins=origins, memory=app.state.memory)
    app.add_middleware(
        Exchanges,
        needs=needs,
        metrics=app.state.metrics,
        logged=settings.log_requests.lower(),
        traces=app.state.otlp.traces,
    )
    app.add_middleware(PathNames)


def _declared(app: FastAPI) -> Iterator[str]:
    """The method and path of every route."""
    yield from (f"POST {path}" for path in deltas.ROUTES)
    for route in (*app.router.routes, *(route for router in ROUTERS for route in router.routes)):
        if isinstance(route, Route):
            yield from (f"{method} {route.path}" for method in (route.methods or set()) - {"HEAD"})


def end_feeds(app: FastAPI) -> None:
    """Ends the app's endless responses, so that the app can shut down. Safe in a signal handler."""
    if app.state.runtime is not None:
        app.state.loop.call_soon_threadsafe(app.state.runtime.end_feeds)


def _opened(on_failure: Callable[[], None], opening: asyncio.Task[None]) -> None:
    error = opening.exception()
    if error is not None:
        reason = start_failure(error)
        if reason:
            _log.critical("the service cannot start: %s", reason)
        else:
            _log.critical("the service cannot start", exc_info=error)
        on_failure()


async def _open(app: FastAPI, starting: Callable[[], Runtime], sessions: Sessions, warm: bool) -> None:
    """Opens the runtime. `warm`: the workers of queries start soon, not when the first query comes."""
    settings: Settings = app.state.settings
    runtime = await asyncio.to_thread(starting)
    app.state.reader = Reader(runtime.dictionary, settings.read_cache_bytes)
    try:
        queries = await asyncio.to_thread(Queries, settings.query_limits, settings.spill)
        if not runtime.follows:
            await asyncio.to_thread(_open_pipeline, app, sessions, runtime)
    except BaseException:
        await asyncio.to_thread(runtime.close)
        raise
    app.state.queries = queries
    app.state.feeds = Feeds(runtime, FeedPages(runtime.dictionary, app.state.lanes.feeds))
    app.state.catalog_watch = CatalogWatch(runtime)
    outside = OutsideStatements(runtime, lambda: app.state.pipeline, app.state.lanes.jobs)
    app.state.sql_door = SqlDoor(runtime, queries, app.state.lanes, app.state.sessions, outside)
    app.state.registry = registry_of(
        runtime, lambda: app.state.pipeline, app.state.reader, app.state.feeds, queries, app.state.postgres
    )
    if app.state.otlp.metrics is not None:
        app.state.otlp.metrics.start(app.state.registry)
    if warm:  # not at once: who starts the service waits for it
        app.state.warming = app.state.loop.call_later(_WARMING_SECONDS, queries.warm)
    app.state.runtime = runtime
    role = "following" if runtime.follows else "ready"
    scheme = "https" if settings.tls_certificate else "http"
    place = f"{scheme}://{settings.host}:{settings.port}"
    _log.info("%s at epoch %d: %s", role, runtime.snapshot.upper - 1, place)


def _open_pipeline(app: FastAPI, sessions: Sessions, runtime: Runtime) -> None:
    """Continues with the loads, exports, sources, sinks and backups, which only a leader has. Blocks."""
    pipeline = Pipeline.open(runtime, sessions)
    app.state.backups = Backups(runtime, pipeline.jobs)
    app.state.pipeline = pipeline


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, including the routes that bring their own description."""
    if app.openapi_schema is None:
        app.openapi_schema = openapi_document(app, deltas.OPENAPI)
    return app.openapi_schema
