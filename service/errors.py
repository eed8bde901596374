"""What the service raises, and the one table from exceptions to HTTP statuses.

ServiceError
├── BadRequest          400  cannot be parsed
├── CrossOrigin         403  a page of another origin asks
├── NotFound            404  no such name
├── NotAcceptable       406  an Accept header that nothing here can meet
├── Conflict            409  the state forbids it
├── HistoryGone         410  the epoch is no longer kept
├── TooLarge            413  more bytes than the limit
├── UnsupportedFormat   415  a content type or encoding that nobody reads here
├── Misdirected         421  for a host that is not this service
├── Invalid             422  understood, but not valid
├── Overloaded          429  too much waits already
└── Unavailable         503  not ready, or the log cannot be written

Every error has a stable snake_case `code`, a `message` (a lowercase fact), a `hint`
that may be empty and, for SQL, a position. `problem_of` turns any exception, of the
engine and the planner too, into a `Problem`: what a client is told.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from engine.errors import (
    EngineError,
    EpochError,
    ExecutionFailed,
    InvalidValue,
    JoinTooLarge,
    LimitExceeded,
    NameInUse,
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


class CrossOrigin(ServiceError):
    status = 403
    code = "cross_origin"


class NotFound(ServiceError):
    status = 404
    code = "unknown_name"


class NotAcceptable(ServiceError):
    status = 406
    code = "not_acceptable"


class Conflict(ServiceError):
    status = 409
    code = "conflict"


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
    (PlanError, 422),
    (ExecutionFailed, 503),
    (SparkUnavailable, 503),
    (StoreError, 500),
    (EngineError, 422),
    (InvalidSyntax, 400),
    (PlannerError, 422),
)


def problem_of(error: BaseException) -> Problem | None:
    """What a client is told of `error`; None for one that is nobody's mistake but ours."""
    if isinstance(error, ServiceError):
        return Problem(error.status, error.code, conceal(error.message), conceal(error.hint))
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            line, column = getattr(error, "line", None), getattr(error, "column", None)
            return Problem(status, error.code, conceal(error.message), conceal(error.hint), line, column)
    if isinstance(error, SQLAlchemyError):
        return Problem(503, code="log_unavailable", detail="the catalog database cannot be used now")
    return None


def start_failure(error: BaseException) -> str:
    """Why the service cannot start, in a sentence for its operator; empty where it is a fault of our own."""
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
