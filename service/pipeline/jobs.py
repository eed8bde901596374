"""Jobs: requests for loads, exports and backups with their progress and outcome, stored in the catalog.

A job is `running` from its submission until it is `done`, `failed` or `cancelled`, and then never changes. A
load becomes done in the transaction that makes its epoch durable, by its receipt. So a job that is still
running when a service starts has left nothing behind, and becomes failed.

The catalog keeps a limited number of jobs; the oldest that have ended are deleted first.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import orjson
import sqlalchemy as sa

from service.catalog.database import Number, metadata
from service.errors import NotFound, Overloaded

BACKUP = "backup"
RUNNING, DONE, FAILED, CANCELLED = STATES = ("running", "done", "failed", "cancelled")

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("number", Number, primary_key=True, autoincrement=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("rows", Number),
    sa.Column("skipped", Number),
    sa.Column("epoch", Number),
    sa.Column("error", sa.Text),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("started_at", sa.BigInteger),
    sa.Column("ended_at", sa.BigInteger),
    sqlite_autoincrement=True,
)

Transaction = Callable[[], AbstractContextManager[sa.Connection]]
"""A transaction of the catalog database, on a connection of its own."""


@dataclass(frozen=True)
class Job:
    """A job of a `kind`: `load`, `export` or `backup`. `request` has no secrets; `error` is a problem
    document; times are microseconds since 1970, UTC."""

    id: str
    kind: str
    request: Mapping[str, object]
    created_at: int
    state: str = RUNNING
    rows: int | None = None
    skipped: int | None = None
    epoch: int | None = None
    error: Mapping[str, object] | None = None
    started_at: int | None = None
    ended_at: int | None = None

    @classmethod
    def new(cls, kind: str, request: Mapping[str, object]) -> Job:
        return cls(secrets.token_hex(8), kind, request, now())

    def ended(self, state: str, **found: object) -> Job:
        """The job as it ends now, with the outcome in `found`."""
        return replace(self, state=state, ended_at=now(), **found)  # type: ignore[arg-type]


def as_visible(job: Job, upper: int) -> Job:
    """The job as clients see it: it is not done before its epoch can be read, which means below `upper`."""
    if job.state == DONE and job.epoch is not None and job.epoch >= upper:
        return replace(job, state=RUNNING, rows=None, skipped=None, epoch=None, ended_at=None)
    return job


class JobStore:
    """The jobs in the catalog. Any thread may use it."""

    def __init__(self, transaction: Transaction, kept: int) -> None:
        self._transaction = transaction
        self._kept = kept

    def add(self, job: Job) -> None:
        """Stores a new job, and deletes the oldest ended ones if there are too many.

        Raises Overloaded if as many jobs as are kept have not ended yet.
        """
        with self._transaction() as connection:
            connection.execute(sa.insert(jobs).values(_row(job)))
            surplus = (
                connection.execute(sa.select(sa.func.count()).select_from(jobs)).scalar_one() - self._kept
            )
            if surplus <= 0:
                return
            old = sa.select(jobs.c.number).where(jobs.c.state != RUNNING).order_by(jobs.c.number)
            numbers = connection.execute(old.limit(surplus)).scalars().all()
            if len(numbers) < surplus:
                raise Overloaded(f"{self._kept} jobs are waiting already", "try again later")
            connection.execute(sa.delete(jobs).where(jobs.c.number.in_(numbers)))

    def update(self, job: Job) -> None:
        """Stores the current form of a job."""
        with self._transaction() as connection:
            write_job(connection, job)

    def get(self, kind: str, id: str) -> Job:
        """The job. Raises NotFound."""
        query = sa.select(jobs).where(jobs.c.kind == kind, jobs.c.id == id)
        with self._transaction() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise unknown_job(kind, id)
        return _job(row)

    def all(self, kind: str) -> list[Job]:
        """The jobs of a kind, newest first."""
        query = sa.select(jobs).where(jobs.c.kind == kind).order_by(jobs.c.number.desc())
        with self._transaction() as connection:
            return [_job(row) for row in connection.execute(query)]

    def counts(self) -> dict[tuple[str, str], int]:
        """The number of jobs, by kind and state."""
        query = sa.select(jobs.c.kind, jobs.c.state, sa.func.count()).group_by(jobs.c.kind, jobs.c.state)
        with self._transaction() as connection:
            return {(kind, state): count for kind, state, count in connection.execute(query)}

    def unfinished(self) -> list[Job]:
        """The jobs that have not ended, oldest first."""
        query = sa.select(jobs).where(jobs.c.state == RUNNING).order_by(jobs.c.number)
        with self._transaction() as connection:
            return [_job(row) for row in connection.execute(query)]


def write_job(connection: sa.Connection, job: Job) -> None:
    """Stores a job in the connection's transaction. A job that has ended stays as it is."""
    mine = (jobs.c.id == job.id) & (jobs.c.state == RUNNING)
    connection.execute(sa.update(jobs).where(mine).values(_row(job)))


def unknown_job(kind: str, id: str) -> NotFound:
    return NotFound(f"there is no {kind} {id}", code="unknown_job")


def now() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def _row(job: Job) -> dict[str, object]:
    error = None if job.error is None else orjson.dumps(job.error).decode()
    return {**vars(job), "request": orjson.dumps(job.request).decode(), "error": error}


def _job(row: sa.Row) -> Job:
    members = {name: value for name, value in row._mapping.items() if name != "number"}
    error = None if row.error is None else orjson.loads(row.error)
    return Job(**{**members, "request": orjson.loads(row.request), "error": error})
