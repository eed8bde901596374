"""The errors of queries that exceed a limit, or that a worker could not finish."""

from __future__ import annotations

from service.errors import Invalid, Overloaded, Unavailable
from service.settings.query_limits import QueryLimits

_VIEW = "create a view of the query, or of a part of it"
_PART = "use LIMIT or WHERE to ask for a part of it"


class CallerGone(Exception):
    """The client has left, so nothing more runs for it."""


class EngineFault(Invalid):
    """DuckDB has failed by a fault of its own. Its database cannot be used any more."""


class NeedsQuery(Exception):
    """The rows cannot be found without a query."""


def out_of_time(limits: QueryLimits) -> Invalid:
    return Invalid(
        f"the query ran for {limits.seconds:g} seconds and was stopped", _VIEW, code="query_timeout"
    )


def out_of_memory(limits: QueryLimits) -> Invalid:
    return Invalid(
        f"the query needs more memory than {_size(limits.memory)}", _VIEW, code="query_out_of_memory"
    )


def out_of_disk(limits: QueryLimits) -> Invalid:
    return Invalid(
        f"the query needs more temporary files than {_size(limits.disk)}", _VIEW, code="query_out_of_disk"
    )


def too_many_rows(limits: QueryLimits) -> Invalid:
    return Invalid(f"the answer has more than {limits.answer_rows} rows", _PART, code="query_too_many_rows")


def too_large(limits: QueryLimits) -> Invalid:
    return Invalid(f"the answer has more than {_size(limits.answer_bytes)}", _PART, code="query_too_large")


def engine_fault() -> EngineFault:
    return EngineFault(
        "DuckDB cannot compute the query, by a fault of its own",
        "write it in another way, or create a view of it",
        code="query_failed",
    )


def worker_ended(signal: int | None) -> Unavailable:
    """The error of a query whose worker ended, by a signal or by itself."""
    by = f" by signal {signal}" if signal else ""
    return Unavailable(
        f"the process that ran the query was ended{by}",
        "try again; if it happens again, the query needs too much memory: create a view of it",
        code="query_interrupted",
    )


def too_many_waiting(limits: QueryLimits) -> Overloaded:
    return Overloaded(f"{limits.waiting} queries are waiting already", "try again later")


def _size(size: int) -> str:
    """A number of bytes in MB, or in bytes if they are less than one."""
    return f"{size >> 20} MB" if size >> 20 else f"{size} bytes"
