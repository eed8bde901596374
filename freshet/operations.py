"""Operation through a connection: keys, roles, the audit log, loads, exports, sources and sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

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
from freshet.values.rows import Rows

T = TypeVar("T")


class NamedRelation(Protocol):
    kind: str
    name: str


class Operations:
    """What a blocking connection can do besides tables, views and SQL. Each method makes one call."""

    def run(self, call: ApiCall[T]) -> T:
        raise NotImplementedError

    def keys(self) -> list[KeyDescription]:
        """All keys, the oldest first, without their secrets."""
        return self.run(operation_calls.keys())

    def make_key(self, name: str, role: str = "read", relations: Sequence[str] | None = None) -> MadeKey:
        """Makes a key, for these relations alone if they are given. Its text is in no later answer."""
        return self.run(operation_calls.make_key(name, role, relations))

    def rotate_key(self, id: str, grace_seconds: float = 0.0) -> MadeKey:
        """Gives a key a new secret. The old one stays valid for `grace_seconds`."""
        return self.run(operation_calls.rotate_key(id, grace_seconds))

    def revoke_key(self, id: str) -> None:
        """Revokes a key for ever."""
        return self.run(operation_calls.revoke_key(id))

    def roles(self) -> list[RoleDescription]:
        """All roles, and what each may do."""
        return self.run(operation_calls.roles())

    def audit(self, since: int = 0, limit: int = 100) -> list[AuditDescription]:
        """Entries of the audit log after number `since`, the oldest first."""
        return self.run(operation_calls.audit(since, limit))

    def begin_load(
        self, table: str, format: str, path: str | None = None, **wishes: object
    ) -> LoadDescription:
        """Begins a load of files that the service can reach. `wishes` are other members of the request."""
        return self.run(operation_calls.begin_load(table, format, path=path, **wishes))

    def load(self, id: str) -> LoadDescription:
        """A load, with its progress and its outcome."""
        return self.run(operation_calls.load(id))

    def loads(self) -> list[LoadDescription]:
        """The loads that are kept, the newest first."""
        return self.run(operation_calls.loads())

    def cancel_load(self, id: str) -> LoadDescription:
        """Cancels a load. It ends soon and leaves nothing."""
        return self.run(operation_calls.cancel_load(id))

    def begin_export(
        self, relation: NamedRelation, format: str, path: str, **wishes: object
    ) -> ExportDescription:
        """Begins an export to files that the service writes."""
        return self.run(
            operation_calls.begin_export(relation.kind[:-1], relation.name, format, path, **wishes)
        )

    def export(self, id: str) -> ExportDescription:
        """An export, with its progress and its outcome."""
        return self.run(operation_calls.export(id))

    def exports(self) -> list[ExportDescription]:
        """The exports that are kept, the newest first."""
        return self.run(operation_calls.exports())

    def cancel_export(self, id: str) -> ExportDescription:
        """Cancels an export. It ends soon and leaves nothing."""
        return self.run(operation_calls.cancel_export(id))

    def begin_backup(self, path: str) -> BackupDescription:
        """Begins a backup of the whole service, in a new directory that it can reach."""
        return self.run(operation_calls.begin_backup(path))

    def backup(self, id: str) -> BackupDescription:
        """A backup, with its progress and its outcome."""
        return self.run(operation_calls.backup(id))

    def backups(self) -> list[BackupDescription]:
        """The backups that are remembered, the newest first."""
        return self.run(operation_calls.backups())

    def cancel_backup(self, id: str) -> BackupDescription:
        """Cancels a backup. It ends soon and leaves nothing."""
        return self.run(operation_calls.cancel_backup(id))

    def create_branch(
        self, name: str, of: str = branch_calls.MAIN, as_of: int | str | None = None, *, live: bool = False
    ) -> BranchDescription:
        """Makes a branch of main or of another branch, as of an epoch or a time, by default as of now. A
        `live` one follows its parent from there."""
        return self.run(branch_calls.create_branch(name, of, as_of, live))

    def branch(self, name: str) -> BranchDescription:
        """A branch: where it parted, and what it holds. `on_branch` reads and changes it."""
        return self.run(branch_calls.branch(name))

    def branches(self) -> list[BranchDescription]:
        """All branches, the oldest first."""
        return self.run(branch_calls.branches())

    def drop_branch(self, name: str) -> None:
        """Drops a branch, with what was not merged."""
        return self.run(branch_calls.drop_branch(name))

    def merge_branch(self, name: str, on_conflict: str = "fail") -> MergeDescription:
        """Makes the changes of a branch one epoch of its parent. Where both have changed a row, `fail` merges
        nothing, `ours` leaves the parent's and `theirs` takes the branch's."""
        return self.run(branch_calls.merge_branch(name, on_conflict))

    def create_replacement(
        self, name: str, views: Mapping[str, str], dialect: str = "postgres"
    ) -> ReplacementDescription:
        """Builds views under new queries, by their names, beside the old ones. Returns when that is done."""
        return self.run(replacement_calls.create_replacement(name, views, dialect))

    def replacement(self, name: str) -> ReplacementDescription:
        """A replacement: how far it is, and what it concerns."""
        return self.run(replacement_calls.replacement(name))

    def replacements(self) -> list[ReplacementDescription]:
        """All replacements, the oldest first."""
        return self.run(replacement_calls.replacements())

    def preview_replacement(self, name: str, view: str | None = None, as_of: int | None = None) -> Rows:
        """The rows that a view would have more or less; the column `_diff` says by how many."""
        return self.run(replacement_calls.preview_replacement(name, view, as_of))

    def apply_replacement(self, name: str) -> int:
        """Lets the views go on under their new queries. Returns the epoch at which they do."""
        return self.run(replacement_calls.apply_replacement(name))

    def drop_replacement(self, name: str) -> None:
        """Drops a replacement; the views stay as they are."""
        return self.run(replacement_calls.drop_replacement(name))

    def diff(self, relation: str, branch: str, against: str = branch_calls.MAIN) -> Rows:
        """The rows that a view or table has more or less on a branch; the column `_diff` says by how many."""
        return self.run(branch_calls.diff(relation, branch, against))

    def check_view(self, view: str, by: str = "rebuild") -> CheckDescription:
        """Compares a view with a new computation of it, by the engine or by `duckdb`, beside the service."""
        return self.run(operation_calls.check_view(view, by))

    def translate(self, sql: str, *, dialect: str) -> TranslationDescription:
        """A query of any dialect in DuckDB's SQL, with notes on what changes meaning."""
        return self.run(operation_calls.translate(sql, dialect))

    def create_source(
        self, name: str, table: str, format: str, path: str, **wishes: object
    ) -> SourceDescription:
        """Creates a source: a directory whose files go into a table."""
        return self.run(operation_calls.create_source(name, table, format, path, wishes))

    def source(self, name: str) -> SourceDescription:
        """A source, with its progress."""
        return self.run(operation_calls.source(name))

    def sources(self) -> list[SourceDescription]:
        """All sources, by name."""
        return self.run(operation_calls.sources())

    def resume_source(self, name: str) -> SourceDescription:
        """Resumes a failed source at the batch that failed."""
        return self.run(operation_calls.resume_source(name))

    def drop_source(self, name: str) -> None:
        """Drops a source. The rows that it added stay."""
        return self.run(operation_calls.drop_source(name))

    def create_sink(self, name: str, view: str, path: str, **wishes: object) -> SinkDescription:
        """Creates a sink: a directory to which a view's changes are appended."""
        return self.run(operation_calls.create_sink(name, view, path, wishes))

    def sink(self, name: str) -> SinkDescription:
        """A sink, with its progress."""
        return self.run(operation_calls.sink(name))

    def sinks(self) -> list[SinkDescription]:
        """All sinks, by name."""
        return self.run(operation_calls.sinks())

    def drop_sink(self, name: str) -> None:
        """Drops a sink. Its files stay."""
        return self.run(operation_calls.drop_sink(name))
