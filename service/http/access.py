"""What a route needs of the app that it runs in."""

from __future__ import annotations

from starlette.requests import Request

from service.errors import Unavailable
from service.http.bodies import Turns
from service.pipeline.pipeline import Pipeline
from service.reading.reads import Reader
from service.running.runtime import Runtime


def runtime_of(request: Request) -> Runtime:
    """The runtime; Unavailable until everything is recovered, and once it is closing."""
    runtime = request.app.state.runtime
    if runtime is None:
        raise Unavailable("the service is not ready: it recovers what it has stored", "try again soon")
    return runtime


def turns_of(request: Request) -> Turns:
    """Where the app works on bodies."""
    return request.app.state.turns


def reader_of(request: Request) -> Reader:
    """The reader over the runtime's snapshots. Call `runtime_of` first."""
    return request.app.state.reader


def pipeline_of(request: Request) -> Pipeline:
    """What moves rows in and out beside the doors; Unavailable as `runtime_of`."""
    runtime_of(request)
    return request.app.state.pipeline
