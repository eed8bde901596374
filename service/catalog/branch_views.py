"""The views that branches have of their own, as the catalog stores them.

Their numbers are those of relations: no relation of the service, and none of another branch, ever has one of
them, and they grow in the order in which relations are made, wherever that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import sqlalchemy as sa

from service.catalog.catalog import Catalog
from service.catalog.database import Number, metadata
from service.catalog.details import dump_details, load_details
from service.catalog.records import Definer, DefinitionRecord, Layout

branch_views = sa.Table(
    "branch_views",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=False),
    sa.Column("branch", Number, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("sql", sa.Text, nullable=False),
    sa.Column("dialect", sa.Text, nullable=False),
    sa.Column("created", Number, nullable=False),
    sa.Column("details", sa.Text),
    sa.UniqueConstraint("branch", "name"),
)


class BranchDefiner(Definer):
    """Changes of a branch's own views inside one database transaction. What the branch has from its parent
    is not stored with it, and stays as it is."""

    def __init__(self, connection: sa.Connection, branch: int) -> None:
        super().__init__(connection)
        self._branch = branch

    def add(self, record: DefinitionRecord) -> int:
        id = self.new_number()
        values = {**_row(record), "id": id, "branch": self._branch, "created": record.created}
        self.connection.execute(sa.insert(branch_views).values(**values))
        return id

    def change(self, record: DefinitionRecord) -> None:
        own = branch_views.c.id == record.id
        self.connection.execute(sa.update(branch_views).where(own).values(**_row(record)))

    def retire(self, layout: Layout) -> NoReturn:
        raise NotImplementedError("a branch's tables are those of its parent")

    def remove(self, id: int) -> None:
        self.connection.execute(sa.delete(branch_views).where(branch_views.c.id == id))


class BranchDefinitionStore:
    """Stores the own views of one branch. Any thread may call it: each transaction has its own connection."""

    def __init__(self, catalog: Catalog, branch: int) -> None:
        self._catalog = catalog
        self._branch = branch

    @contextmanager
    def changing(self) -> Iterator[Definer]:
        """A transaction that commits when its block ends and rolls back when the block raises."""
        with self._catalog.transaction() as connection:
            yield BranchDefiner(connection, self._branch)

    def records(self) -> list[DefinitionRecord]:
        """The views of the branch, in the order of creation."""
        query = sa.select(branch_views).where(branch_views.c.branch == self._branch)
        with self._catalog.connections.reading_aside() as connection:
            rows = connection.execute(query.order_by(branch_views.c.id)).all()
        return [
            DefinitionRecord(
                row.id, row.name, None, None, row.sql, row.dialect, row.created, load_details(row.details)
            )
            for row in rows
        ]


def _row(record: DefinitionRecord) -> dict[str, object]:
    return {
        "name": record.name,
        "sql": record.sql,
        "dialect": record.dialect,
        "details": dump_details(record.details),
    }
