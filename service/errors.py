"""The service's errors, and the one table from exceptions to HTTP statuses.

ServiceError
├── BadRequest          400  the request cannot be parsed
├── Unauthenticated     401  the request has no valid key
├── CrossOrigin         403  the request comes from a page of another origin
├── Forbidden           403  the request's key does not allow it
├── NotFound            404  the name does not exist
├── NotAcceptable       406  the service has no format that the Accept header allows
├── Conflict            409  the current state forbids the request
│   └── NamingConflict       ... and the error names a relation that the request does not
│       └── ShowingConflict  ... or shows rows of it that the request does not
├── HistoryGone         410  the epoch is no longer kept
├── TooLarge            413  the request exceeds a limit of bytes
├── UnsupportedFormat   415  the service cannot read the content type or encoding
├── Misdirected         421  the request is for another host
├── Invalid             422  the request is well formed but not valid
├── Overloaded          429  too many requests are waiting
└── Unavailable         503  the service is not ready, or cannot write the log
    └── NotLeader            another service leads, and makes all changes
        ├── MaintainsNoQueries   ... and all queries that are followed
        └── Deposed          ... and has taken the place of this one

Every error has a stable snake_case `code`, a `message` (a lowercase fact), a `hint` that may be empty and,
for SQL, a position. `problem_of` turns any exception, also of the engine and the planner, into the `Problem`
that the client gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from engine.errors import (
    BuildCancelled,
    EngineError,
    EpochError,
    ExecutionFailed,
    InvalidValue,
    JoinTooLarge,
    LimitExceeded,
    NameInUse,
    OverBudget,
    PlanError,
    SparkUnavailable,
    StoreError,
    UnknownName,
)
from planner.errors import InvalidSyntax, PlannerError
from service.concealing import conceal


class ServiceError(Exception):
    status = 500
    code = "internal_error"

    def __init__(self, message: str, hint: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or type(self).code


class BadRequest(ServiceError):
    status = 400
    code = "bad_request"


class Unauthenticated(ServiceError):
    status = 401
    code = "key_missing"


class CrossOrigin(ServiceError):
    status = 403
    code = "cross_origin"


class Forbidden(ServiceError):
    status = 403
    code = "forbidden"


class NotFound(ServiceError):
    status = 404
    code = "unknown_name"


class NotAcceptable(ServiceError):
    status = 406
    code = "not_acceptable"


class Conflict(ServiceError):
    status = 409
    code = "conflict"


class Viewer(Protocol):
    """Somebody who gets errors."""

    def sees(self, relation: str) -> bool:
        """Whether the relation is on lists that the viewer gets."""

    def reads(self, relation: str) -> bool:
        """Whether the viewer may read the relation's rows."""


class NamingConflict(Conflict):
    """A conflict with a `relation` that the request does not name. `veiled` says the same without the name,
    for those who do not see that relation."""

    def __init__(
        self, message: str, hint: str = "", relation: str = "", veiled: Conflict | None = None
    ) -> None:
        super().__init__(message, hint, code=None if veiled is None else veiled.code)
        self.relation = relation
        self.veiled = veiled or Conflict("another relation forbids the request")

    def is_for(self, viewer: Viewer) -> bool:
        """Whether the viewer may read the error as it is."""
        return viewer.sees(self.relation)


class ShowingConflict(NamingConflict):
    """A conflict with rows of `relation` that the request does not have. `veiled` says the same without them,
    for those who do not read that relation."""

    def is_for(self, viewer: Viewer) -> bool:
        return viewer.reads(self.relation)


class HistoryGone(ServiceError):
    status = 410
    code = "history_gone"


class TooLarge(ServiceError):
    status = 413
    code = "too_large"


class UnsupportedFormat(ServiceError):
    status = 415
    code = "unsupported_format"


class Misdirected(ServiceError):
    status = 421
    code = "unknown_host"


class Invalid(ServiceError):
    status = 422
    code = "invalid"


class Overloaded(ServiceError):
    status = 429
    code = "overloaded"


class Unavailable(ServiceError):
    status = 503
    code = "not_ready"


class NotLeader(Unavailable):
    code = "not_leader"
    fact = "this service is a standby: it makes no changes"

    def __init__(self, address: str = "") -> None:
        where = f"send it to the leader, {address}" if address else "send it to the leader"
        super().__init__(self.fact, where)


class MaintainsNoQueries(NotLeader):
    fact = "this service is a standby: it maintains views, but no queries that are followed"


class Deposed(NotLeader):
    fact = "this service does not lead any more: it makes no changes"


@dataclass(frozen=True)
class Problem:
    """An RFC 9457 problem: the members of the answer's body."""

    status: int
    code: str
    detail: str
    hint: str = ""
    line: int | None = None
    column: int | None = None


_STATUSES: tuple[tuple[type[EngineError] | type[PlannerError], int], ...] = (
    (InvalidValue, 422),
    (UnknownName, 404),
    (NameInUse, 409),
    (EpochError, 410),
    (LimitExceeded, 422),
    (JoinTooLarge, 422),
    (OverBudget, 422),
    (BuildCancelled, 409),
    (PlanError, 422),
    (ExecutionFailed, 503),
    (SparkUnavailable, 503),
    (StoreError, 500),
    (EngineError, 422),
    (InvalidSyntax, 400),
    (PlannerError, 422),
)


def problem_of(error: BaseException) -> Problem | None:
    """The problem that the client gets for `error`; None if `error` is a fault of the service."""
    if isinstance(error, ServiceError):
        return Problem(error.status, error.code, conceal(error.message), conceal(error.hint))
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            line, column = getattr(error, "line", None), getattr(error, "column", None)
            return Problem(status, error.code, conceal(error.message), conceal(error.hint), line, column)
    if isinstance(error, SQLAlchemyError):
        return Problem(503, code="log_unavailable", detail="the catalog database cannot be used now")
    return None


def as_seen(error: Exception, viewer: Viewer) -> Exception:
    """The error as the viewer may read it."""
    return error.veiled if isinstance(error, NamingConflict) and not error.is_for(viewer) else error


def start_failure(error: BaseException) -> str:
    """Why the service cannot start, as a sentence for its operator; empty for a fault of the service."""
    match error:
        case ServiceError() | EngineError():
            return f"{error.message}; {error.hint}" if error.hint else error.message
        case DBAPIError():
            return f"the database cannot be used (FRESHET_DATABASE_URL): {_one_line(error.orig)}"
        case SQLAlchemyError() | ImportError():
            return f"the database cannot be used (FRESHET_DATABASE_URL): {_one_line(error)}"
        case OSError():
            return f"the data directory cannot be used (FRESHET_DATA): {_one_line(error)}"
    return ""


def _one_line(error: object) -> str:
    return " ".join(str(error).split())
