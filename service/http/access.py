"""The parts of the app that routes use."""

from __future__ import annotations

from starlette.requests import Request

from service.accounts.principals import Principal
from service.backup.backups import Backups
from service.derivations.prepared_program import PreparedPrograms
from service.errors import Unavailable
from service.http.bodies import Turns
from service.http.feeds import Feeds
from service.names import fold_name
from service.pipeline.jobs import Job
from service.pipeline.pipeline import Pipeline
from service.reading.lanes import Lanes
from service.reading.queries import Queries
from service.reading.reads import Reader
from service.running.branches.branch_timeline import BranchTimeline
from service.running.runtime import Runtime
from service.running.timeline import Timeline
from service.running.view_timeline import ViewTimeline
from service.sql.script_door import SqlDoor


def runtime_of(request: Request) -> Runtime:
    """The runtime. Raises Unavailable until everything is recovered, and once the service is closing."""
    runtime = request.app.state.runtime
    if runtime is None:
        raise Unavailable("the service is not ready: it is recovering its state", "try again soon")
    return runtime


def timeline_of(request: Request, branch: str | None) -> ViewTimeline:
    """The branch that a request names, or the runtime. Raises Unavailable like `runtime_of`, NotFound for a
    branch that is not there, and NotLeader for any in a standby."""
    runtime = runtime_of(request)
    return runtime if branch is None else runtime.branches.timeline(fold_name(branch))


def principal_of(request: Request) -> Principal:
    """Who sends the request: what `service/http/authorization.py` has found out."""
    return request.scope["principal"]  # type: ignore[no-any-return]


def turns_of(request: Request) -> Turns:
    """The app's threads for request bodies."""
    return request.app.state.turns


def lanes_of(request: Request) -> Lanes:
    """The app's threads for each kind of request."""
    return request.app.state.lanes


def prepared_programs_of(request: Request) -> PreparedPrograms:
    """What earlier questions about rows have prepared."""
    return request.app.state.prepared_programs  # type: ignore[no-any-return]


def door_of(request: Request) -> SqlDoor:
    """The app's SQL door. Raises Unavailable like `runtime_of`."""
    runtime_of(request)
    return request.app.state.sql_door


def reader_of(request: Request, timeline: Timeline) -> Reader:
    """The reader of the timeline's snapshots."""
    return timeline.reader if isinstance(timeline, BranchTimeline) else request.app.state.reader


def feeds_of(request: Request) -> Feeds:
    """The open changefeeds. Call `runtime_of` first."""
    return request.app.state.feeds


def queries_of(request: Request) -> Queries:
    """The workers of queries. Call `runtime_of` first."""
    return request.app.state.queries


def pipeline_of(request: Request) -> Pipeline:
    """The pipeline of loads, exports, sources and sinks. Raises Unavailable like `runtime_of`, and NotLeader
    in a standby."""
    _check_leads(request)
    return request.app.state.pipeline


def backups_of(request: Request) -> Backups:
    """The backups of the runtime. Raises like `pipeline_of`."""
    _check_leads(request)
    return request.app.state.backups


async def job_of(request: Request, of: Pipeline | Backups, kind: str, id: str) -> Job:
    """A job of the pipeline or of the backups. Raises NotFound."""
    return await of.runner.job(kind, id, lanes_of(request).jobs)


def _check_leads(request: Request) -> None:
    runtime_of(request).must_lead()
    if request.app.state.pipeline is None:
        raise Unavailable("the service is not ready: it is taking over", "try again soon")
