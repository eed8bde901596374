"""The requests about operation: keys, roles, the audit log, loads, exports, sources and sinks.

An answer becomes the dataclass that describes it (`operation_descriptions.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.contract.calls import get_call, nothing, path_of, post_call
from freshet.contract.operation_descriptions import (
    AuditDescription,
    BackupDescription,
    CheckDescription,
    ExportDescription,
    KeyDescription,
    LoadDescription,
    MadeKey,
    RoleDescription,
    SinkDescription,
    SourceDescription,
    TranslationDescription,
    read_as,
)

T = TypeVar("T")


def _one(kind: type[T]) -> Callable[[ApiAnswer], T]:
    return lambda answer: read_as(kind, answer.json())


def _all(kind: type[T], member: str) -> Callable[[ApiAnswer], list[T]]:
    return lambda answer: [read_as(kind, found) for found in answer.json()[member]]


def _given(**members: object) -> dict[str, object]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


# Accounts


def keys() -> ApiCall[list[KeyDescription]]:
    return get_call(path_of("keys"), _all(KeyDescription, "keys"))


def make_key(name: str, role: str, relations: Sequence[str] | None) -> ApiCall[MadeKey]:
    body = _given(name=name, role=role, relations=None if relations is None else list(relations))
    return post_call(path_of("keys"), body, _one(MadeKey))


def rotate_key(id: str, grace_seconds: float) -> ApiCall[MadeKey]:
    return post_call(path_of("keys", id, "rotate"), {"grace_seconds": grace_seconds}, _one(MadeKey))


def revoke_key(id: str) -> ApiCall[None]:
    return _end("keys", id, nothing)


def roles() -> ApiCall[list[RoleDescription]]:
    return get_call(path_of("roles"), _all(RoleDescription, "roles"))


def audit(since: int, limit: int) -> ApiCall[list[AuditDescription]]:
    return get_call(path_of("audit"), _all(AuditDescription, "entries"), {"since": since, "limit": limit})


# Jobs


def begin_load(table: str, format: str, **wishes: object) -> ApiCall[LoadDescription]:
    body = _given(table=table, format=format, **wishes)
    return post_call(path_of("loads"), body, _one(LoadDescription))


def loads() -> ApiCall[list[LoadDescription]]:
    return get_call(path_of("loads"), _all(LoadDescription, "loads"))


def load(id: str) -> ApiCall[LoadDescription]:
    return get_call(path_of("loads", id), _one(LoadDescription))


def cancel_load(id: str) -> ApiCall[LoadDescription]:
    return _end("loads", id, _one(LoadDescription))


def begin_backup(path: str) -> ApiCall[BackupDescription]:
    return post_call(path_of("backups"), {"path": path}, _one(BackupDescription))


def backups() -> ApiCall[list[BackupDescription]]:
    return get_call(path_of("backups"), _all(BackupDescription, "backups"))


def backup(id: str) -> ApiCall[BackupDescription]:
    return get_call(path_of("backups", id), _one(BackupDescription))


def cancel_backup(id: str) -> ApiCall[BackupDescription]:
    return _end("backups", id, _one(BackupDescription))


def check_view(view: str, by: str) -> ApiCall[CheckDescription]:
    """`by` is `rebuild` or `duckdb`."""
    return ApiCall(
        "POST", path_of("views", view, "check"), _one(CheckDescription), {"by": by}, repeatable=True
    )


def translate(sql: str, dialect: str) -> ApiCall[TranslationDescription]:
    return post_call(path_of("translate"), {"sql": sql, "dialect": dialect}, _one(TranslationDescription))


def begin_export(
    kind: str, name: str, format: str, path: str, **wishes: object
) -> ApiCall[ExportDescription]:
    """`kind` is `view` or `table`."""
    body = _given(format=format, path=path, **wishes) | {kind: name}
    return post_call(path_of("exports"), body, _one(ExportDescription))


def exports() -> ApiCall[list[ExportDescription]]:
    return get_call(path_of("exports"), _all(ExportDescription, "exports"))


def export(id: str) -> ApiCall[ExportDescription]:
    return get_call(path_of("exports", id), _one(ExportDescription))


def cancel_export(id: str) -> ApiCall[ExportDescription]:
    return _end("exports", id, _one(ExportDescription))


# Sources and sinks


def create_source(
    name: str, table: str, format: str, path: str, wishes: Mapping[str, object]
) -> ApiCall[SourceDescription]:
    body = _given(name=name, table=table, format=format, path=path, **wishes)
    return post_call(path_of("sources"), body, _one(SourceDescription))


def sources() -> ApiCall[list[SourceDescription]]:
    return get_call(path_of("sources"), _all(SourceDescription, "sources"))


def source(name: str) -> ApiCall[SourceDescription]:
    return get_call(path_of("sources", name), _one(SourceDescription))


def resume_source(name: str) -> ApiCall[SourceDescription]:
    return ApiCall("POST", path_of("sources", name, "resume"), _one(SourceDescription))


def drop_source(name: str) -> ApiCall[None]:
    return _end("sources", name, nothing)


def create_sink(name: str, view: str, path: str, wishes: Mapping[str, object]) -> ApiCall[SinkDescription]:
    body = _given(name=name, view=view, path=path, **wishes)
    return post_call(path_of("sinks"), body, _one(SinkDescription))


def sinks() -> ApiCall[list[SinkDescription]]:
    return get_call(path_of("sinks"), _all(SinkDescription, "sinks"))


def sink(name: str) -> ApiCall[SinkDescription]:
    return get_call(path_of("sinks", name), _one(SinkDescription))


def drop_sink(name: str) -> ApiCall[None]:
    return _end("sinks", name, nothing)


def _end(kind: str, name: str, read: Callable[[ApiAnswer], Any]) -> ApiCall[Any]:
    return ApiCall("DELETE", path_of(kind, name), read)
