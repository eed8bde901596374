"""What the service says of keys, roles, the audit log, loads, exports, sources and sinks.

Members that a later service adds are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class KeyDescription:
    """`relations` limits the key to these names and patterns, if it is not None. Times are RFC 3339."""

    id: str
    name: str
    role: str
    relations: list[str] | None
    created: str
    used: str | None = None
    revoked: str | None = None


@dataclass(frozen=True)
class MadeKey:
    """A key that was made or rotated. `key` is its text, which no later answer has."""

    id: str
    name: str
    role: str
    relations: list[str] | None
    key: str = field(repr=False)


@dataclass(frozen=True)
class RoleDescription:
    """`permissions` has the names and patterns of relations by privilege."""

    name: str
    permissions: Mapping[str, list[str]]


@dataclass(frozen=True)
class AuditDescription:
    """`key` and `name` are None if no key was needed; `outcome` is `done` or the status of the refusal."""

    number: int
    at: str
    key: str | None
    name: str | None
    address: str
    action: str
    outcome: str


@dataclass(frozen=True, kw_only=True)
class JobDescription:
    """A load, an export or a backup. `state` is `running`, `done`, `failed` or `cancelled`; `progress` is
    from 0 to 1; `error` is the problem that it has failed with."""

    id: str
    state: str
    progress: float
    path: str | None
    created: str
    started: str | None = None
    ended: str | None = None
    rows: int | None = None
    epoch: int | None = None
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class LoadDescription(JobDescription):
    table: str
    format: str
    options: Mapping[str, Any]
    skipped: int | None = None


@dataclass(frozen=True, kw_only=True)
class ExportDescription(JobDescription):
    relation: str
    format: str
    mode: str
    options: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class BackupDescription(JobDescription):
    """`epoch` is the epoch that the backup holds, once it is done."""


@dataclass(frozen=True, kw_only=True)
class CheckDescription:
    """Whether a view of `size` rows is what its query gives at `epoch`. `differing` counts the distinct rows
    that differ; `rows` and `errors` show the first of them, with both counts of copies."""

    view: str
    epoch: int
    equal: bool
    size: int
    differing: int
    rows: Sequence[Mapping[str, Any]]
    errors: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class TranslationDescription:
    """A query of any dialect in DuckDB's SQL. The statements `before` are to run first. Each of the `notes`
    says how a part that would mean something else as it is `written` is `read`, and `why`."""

    dialect: str
    standing: str
    sql: str
    before: Sequence[str]
    notes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class SourceDescription:
    """`reason` says why the source has failed, or what it waits for."""

    name: str
    table: str
    format: str
    path: str
    state: str
    reason: str | None
    batches: int
    rows: int
    skipped: int
    epoch: int | None
    options: Mapping[str, Any]
    envelope: str | None
    timestamps: str | None
    trigger_seconds: float
    files_per_batch: int
    bad_rows: str


@dataclass(frozen=True, kw_only=True)
class SinkDescription:
    """`epoch` is the newest one in the files; `reason` says why the sink has failed, or what it waits for."""

    name: str
    view: str
    format: str
    path: str
    state: str
    reason: str | None
    epoch: int | None
    files: int
    rows: int
    interval_seconds: float


def read_as(kind: type[T], found: Mapping[str, Any]) -> T:
    """The description in a JSON object."""
    known: Any = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: value for name, value in found.items() if name in known})
