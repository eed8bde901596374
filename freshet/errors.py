"""The client's errors, and the one table from HTTP statuses to them.

Error
├── InvalidRequestError   400, 413, 415, 422  the request or its SQL is not valid
├── UnauthorizedError     401, 403            the key is missing, unknown, or may not do this
├── NotFoundError         404                 the name does not exist
├── ConflictError         409                 the current state forbids the request
├── HistoryGoneError      410                 the epoch is no longer kept
├── OverloadedError       429                 too many requests are waiting
├── UnavailableError      5xx                 the service is not ready, or failed
├── UnexpectedAnswerError 2xx, 3xx          the answer is not one of Freshet's
└── UnreachableError      no answer           the connection could not be made, or ended before the answer

Every error has the service's stable `code`, a `message`, a `hint` that may be empty and, for SQL, the place
as `line` and `column`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Error(Exception):
    """What every error of the client is. `status` is 0 if no answer came."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        code: str = "invalid_request",
        status: int = 0,
        line: int | None = None,
        column: int | None = None,
        index: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.status = status
        self.line = line
        self.column = column
        self.index = index
        """The number of the statement that failed, from 0, if the request was a script of SQL."""

    def __str__(self) -> str:
        place = "" if self.line is None else f" (line {self.line}, column {self.column})"
        hint = f"\nhint: {self.hint}" if self.hint else ""
        return f"{self.message}{place}{hint}"


class InvalidRequestError(Error):
    """The service, or the client before it sends anything, refuses the request as it is."""


class UnauthorizedError(Error):
    """The service does not know the key, or its owner may not do this."""


class NotFoundError(Error):
    """The name does not exist."""


class ConflictError(Error):
    """The current state forbids the request."""


class HistoryGoneError(Error):
    """The epoch is no longer kept."""


class OverloadedError(Error):
    """Too many requests are waiting. The client has tried again as often as it may."""


class UnavailableError(Error):
    """The service is not ready, or failed. The client has tried again as often as it may."""


class UnexpectedAnswerError(Error):
    """What answers is not Freshet, or another release of it."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(
            f"the answer, of status {status}, is not one of Freshet's: {why}",
            "check the address: another program, or a proxy, may answer there",
            code="unexpected_answer",
            status=status,
        )


class UnreachableError(Error):
    """No answer came. `began` says whether the service may have received the request."""

    def __init__(self, message: str, hint: str = "", *, began: bool, code: str = "unreachable") -> None:
        super().__init__(message, hint, code=code)
        self.began = began


_KINDS: dict[int, type[Error]] = {
    401: UnauthorizedError,
    403: UnauthorizedError,
    404: NotFoundError,
    409: ConflictError,
    410: HistoryGoneError,
    429: OverloadedError,
}


def error_of(status: int, problem: Mapping[str, Any], lines_before: int = 0) -> Error:
    """The error that a problem document describes.

    `lines_before` is how many lines the client has put before the caller's SQL.
    """
    kind = _KINDS.get(status, InvalidRequestError if status < 500 else UnavailableError)
    position = problem.get("position")
    found = position if isinstance(position, Mapping) else {}
    line = _number(found.get("line"))
    return kind(
        str(problem.get("detail") or f"the service answered with status {status}"),
        str(problem.get("hint") or ""),
        code=str(problem.get("code") or f"http_{status}"),
        status=status,
        line=None if line is None else max(1, line - lines_before),
        column=_number(found.get("column")),
        index=_number(problem.get("index")),
    )


def _number(value: object) -> int | None:
    return value if type(value) is int else None
