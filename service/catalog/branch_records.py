"""Branches as the catalog stores them: where each began, and what was merged of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlalchemy as sa

from service.catalog.branch_epochs import epochs_of
from service.catalog.branch_views import branch_views
from service.catalog.database import Number, metadata

MAIN = 0
"""The parent of a branch that is no branch itself."""

branches = sa.Table(
    "branches",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("parent", Number, nullable=False),
    sa.Column("epoch", Number, nullable=False),
    sa.Column("beginning", Number, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("newest_relation", Number, nullable=False),
    sa.Column("live", sa.Integer, nullable=False),
    sqlite_autoincrement=True,
)
branch_log = sa.Table(
    "branch_log",
    metadata,
    sa.Column("branch", Number, primary_key=True, autoincrement=False),
    sa.Column("last", Number, primary_key=True, autoincrement=False),
    sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("first", Number, nullable=False),
    sa.Column("committed_at", sa.BigInteger, nullable=False),
    sa.Column("payload", sa.LargeBinary, nullable=False),
    sa.Column("followed", Number),
)
"""`followed` is the newest epoch of the parent that a commit has, NULL for one of the branch's own."""
merges = sa.Table(
    "branch_merges",
    metadata,
    sa.Column("branch", Number, primary_key=True, autoincrement=False),
    sa.Column("into_epoch", Number, primary_key=True, autoincrement=False),
    sa.Column("epoch", Number, nullable=False),
)


@dataclass(frozen=True)
class BranchRecord:
    """A branch that has parted from its `parent`, MAIN or another branch, at the parent's `epoch`.

    `beginning` is its own number for that epoch. It has the relations up to number `newest_relation`. `live`
    is 1 for a branch that follows its parent, 0 for one that stays at that epoch.
    """

    id: int
    name: str
    parent: int
    epoch: int
    beginning: int
    created_at: int
    newest_relation: int
    live: int


@dataclass(frozen=True)
class MergedEpochs:
    """The branch's changes up to its `epoch` have become epoch `into` of its parent."""

    into: int
    epoch: int


def add_branch(connection: sa.Connection, record: BranchRecord) -> BranchRecord:
    """Stores a new branch, and returns it with an id that no branch has ever had, and the first of its
    epochs, whatever the record says of both."""
    values = {name: value for name, value in vars(record).items() if name != "id"}
    statement = sa.insert(branches).values(**values).returning(branches.c.id)
    (id,) = connection.execute(statement).one()
    made = replace(record, id=id, beginning=epochs_of(id).first)
    connection.execute(sa.update(branches).where(branches.c.id == id).values(beginning=made.beginning))
    return made


def remove_branch(connection: sa.Connection, id: int) -> None:
    """Removes a branch with its log and its views. Its id stays taken."""
    connection.execute(sa.delete(branches).where(branches.c.id == id))
    connection.execute(sa.delete(branch_log).where(branch_log.c.branch == id))
    connection.execute(sa.delete(merges).where(merges.c.branch == id))
    connection.execute(sa.delete(branch_views).where(branch_views.c.branch == id))


def branches_of(connection: sa.Connection) -> list[BranchRecord]:
    """All branches, each after its parent."""
    return [BranchRecord(*row) for row in connection.execute(sa.select(branches).order_by(branches.c.id))]


def add_merge(connection: sa.Connection, branch: int, merged: MergedEpochs) -> None:
    """Records that a branch was merged."""
    values = {"branch": branch, "into_epoch": merged.into, "epoch": merged.epoch}
    connection.execute(sa.insert(merges).values(**values))


def merges_of(connection: sa.Connection, branch: int) -> list[MergedEpochs]:
    """The merges of a branch, the oldest first."""
    query = sa.select(merges.c.into_epoch, merges.c.epoch).where(merges.c.branch == branch)
    return [MergedEpochs(*row) for row in connection.execute(query.order_by(merges.c.into_epoch))]
