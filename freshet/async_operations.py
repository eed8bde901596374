"""`Operations`, with methods to be awaited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from freshet.contract import branch_calls, operation_calls, replacement_calls
from freshet.contract.api_call import ApiCall
from freshet.contract.branch_calls import BranchDescription, MergeDescription
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
)
from freshet.contract.replacement_calls import ReplacementDescription
from freshet.operations import NamedRelation
from freshet.values.rows import Rows

T = TypeVar("T")


class AsyncOperations:
    """`Operations`, with methods to be awaited."""

    async def run(self, call: ApiCall[T]) -> T:
        raise NotImplementedError

    async def keys(self) -> list[KeyDescription]:
        return await self.run(operation_calls.keys())

    async def make_key(
        self, name: str, role: str = "read", relations: Sequence[str] | None = None
    ) -> MadeKey:
        return await self.run(operation_calls.make_key(name, role, relations))

    async def rotate_key(self, id: str, grace_seconds: float = 0.0) -> MadeKey:
        return await self.run(operation_calls.rotate_key(id, grace_seconds))

    async def revoke_key(self, id: str) -> None:
        return await self.run(operation_calls.revoke_key(id))

    async def roles(self) -> list[RoleDescription]:
        return await self.run(operation_calls.roles())

    async def audit(self, since: int = 0, limit: int = 100) -> list[AuditDescription]:
        return await self.run(operation_calls.audit(since, limit))

    async def begin_load(
        self, table: str, format: str, path: str | None = None, **wishes: object
    ) -> LoadDescription:
        return await self.run(operation_calls.begin_load(table, format, path=path, **wishes))

    async def load(self, id: str) -> LoadDescription:
        return await self.run(operation_calls.load(id))

    async def loads(self) -> list[LoadDescription]:
        return await self.run(operation_calls.loads())

    async def cancel_load(self, id: str) -> LoadDescription:
        return await self.run(operation_calls.cancel_load(id))

    async def begin_export(
        self, relation: NamedRelation, format: str, path: str, **wishes: object
    ) -> ExportDescription:
        return await self.run(
            operation_calls.begin_export(relation.kind[:-1], relation.name, format, path, **wishes)
        )

    async def export(self, id: str) -> ExportDescription:
        return await self.run(operation_calls.export(id))

    async def exports(self) -> list[ExportDescription]:
        return await self.run(operation_calls.exports())

    async def cancel_export(self, id: str) -> ExportDescription:
        return await self.run(operation_calls.cancel_export(id))

    async def begin_backup(self, path: str) -> BackupDescription:
        return await self.run(operation_calls.begin_backup(path))

    async def backup(self, id: str) -> BackupDescription:
        return await self.run(operation_calls.backup(id))

    async def backups(self) -> list[BackupDescription]:
        return await self.run(operation_calls.backups())

    async def cancel_backup(self, id: str) -> BackupDescription:
        return await self.run(operation_calls.cancel_backup(id))

    async def create_branch(
        self, name: str, of: str = branch_calls.MAIN, as_of: int | str | None = None, *, live: bool = False
    ) -> BranchDescription:
        return await self.run(branch_calls.create_branch(name, of, as_of, live))

    async def branch(self, name: str) -> BranchDescription:
        return await self.run(branch_calls.branch(name))

    async def branches(self) -> list[BranchDescription]:
        return await self.run(branch_calls.branches())

    async def drop_branch(self, name: str) -> None:
        return await self.run(branch_calls.drop_branch(name))

    async def merge_branch(self, name: str, on_conflict: str = "fail") -> MergeDescription:
        return await self.run(branch_calls.merge_branch(name, on_conflict))

    async def create_replacement(
        self, name: str, views: Mapping[str, str], dialect: str = "postgres"
    ) -> ReplacementDescription:
        return await self.run(replacement_calls.create_replacement(name, views, dialect))

    async def replacement(self, name: str) -> ReplacementDescription:
        return await self.run(replacement_calls.replacement(name))

    async def replacements(self) -> list[ReplacementDescription]:
        return await self.run(replacement_calls.replacements())

    async def preview_replacement(self, name: str, view: str | None = None, as_of: int | None = None) -> Rows:
        return await self.run(replacement_calls.preview_replacement(name, view, as_of))

    async def apply_replacement(self, name: str) -> int:
        return await self.run(replacement_calls.apply_replacement(name))

    async def drop_replacement(self, name: str) -> None:
        return await self.run(replacement_calls.drop_replacement(name))

    async def diff(self, relation: str, branch: str, against: str = branch_calls.MAIN) -> Rows:
        return await self.run(branch_calls.diff(relation, branch, against))

    async def check_view(self, view: str, by: str = "rebuild") -> CheckDescription:
        return await self.run(operation_calls.check_view(view, by))

    async def translate(self, sql: str, *, dialect: str) -> TranslationDescription:
        return await self.run(operation_calls.translate(sql, dialect))

    async def create_source(
        self, name: str, table: str, format: str, path: str, **wishes: object
    ) -> SourceDescription:
        return await self.run(operation_calls.create_source(name, table, format, path, wishes))

    async def source(self, name: str) -> SourceDescription:
        return await self.run(operation_calls.source(name))

    async def sources(self) -> list[SourceDescription]:
        return await self.run(operation_calls.sources())

    async def resume_source(self, name: str) -> SourceDescription:
        return await self.run(operation_calls.resume_source(name))

    async def drop_source(self, name: str) -> None:
        return await self.run(operation_calls.drop_source(name))

    async def create_sink(self, name: str, view: str, path: str, **wishes: object) -> SinkDescription:
        return await self.run(operation_calls.create_sink(name, view, path, wishes))

    async def sink(self, name: str) -> SinkDescription:
        return await self.run(operation_calls.sink(name))

    async def sinks(self) -> list[SinkDescription]:
        return await self.run(operation_calls.sinks())

    async def drop_sink(self, name: str) -> None:
        return await self.run(operation_calls.drop_sink(name))
