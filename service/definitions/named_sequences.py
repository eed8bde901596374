"""Sequences: created, dropped and counted, in the catalog's database.

A sequence takes numbers from a reserve, and the catalog stores the number after the reserve. So no number is
given twice; a crash skips the rest of the reserve, as in PostgreSQL. Counting is no part of any epoch: what
is undone has used its numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

import numpy as np
import orjson
import sqlalchemy as sa

from engine.errors import NameInUse
from planner.relation_names import schema_of
from planner.statements.sequences import Counting
from service.catalog.catalog import Catalog
from service.catalog.database import Number, metadata
from service.definitions.named_schemas import NamedSchemas
from service.definitions.named_things import NamedThings
from service.errors import Conflict, Invalid
from service.names import check_relation_name

_RESERVE = 32
sequences = sa.Table(
    "sequences",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("next", sa.Text, nullable=False),
    sqlite_autoincrement=True,
)


class NamedSequence:
    """A sequence of the catalog. Any thread of the service that leads may take numbers from it."""

    def __init__(self, catalog: Catalog, id: int, name: str, counting: Counting) -> None:
        self._catalog = catalog
        self.id = id
        self.name = name
        self.counting = counting
        self._lock = threading.Lock()
        self._reserved: list[int] = []

    @property
    def first(self) -> int:
        return self.counting.start

    def take(self, count: int) -> np.ndarray:
        """The next numbers, int64[count]. Raises Invalid if there are no more."""
        with self._lock:
            while len(self._reserved) < count:
                self._reserve(count - len(self._reserved))
            taken, self._reserved = self._reserved[:count], self._reserved[count:]
        return np.array(taken, np.int64)

    def set(self, number: int, is_taken: bool) -> None:
        """Goes on after a number, or with it. Raises Invalid for one out of the sequence's range."""
        counting = self.counting
        if not counting.minimum <= number <= counting.maximum:
            raise Invalid(
                f"sequence {self.name} has numbers from {counting.minimum} to {counting.maximum}, "
                f"not {number}",
                code="invalid_value",
            )
        following = counting.after(number) if is_taken else number
        with self._lock, self._catalog.transaction() as connection:
            self._store(connection, following)
            self._reserved = []

    def _reserve(self, count: int) -> None:
        with self._catalog.transaction() as connection:
            query = sa.select(sequences.c.next).where(sequences.c.id == self.id)
            stored = connection.execute(query).scalar()
            following = int(stored) if stored else None
            found: list[int] = []
            while following is not None and len(found) < max(count, _RESERVE):
                found.append(following)
                following = self.counting.after(following)
            if len(found) < count:
                raise Invalid(f"sequence {self.name} has no more numbers", code="invalid_value")
            self._store(connection, following)
            self._reserved += found

    def _store(self, connection: sa.Connection, following: int | None) -> None:
        stored = "" if following is None else str(following)
        here = sequences.c.id == self.id
        connection.execute(sa.update(sequences).where(here).values(next=stored))


class NamedSequences(NamedThings[NamedSequence]):
    def __init__(self, catalog: Catalog, schemas: NamedSchemas) -> None:
        super().__init__(catalog, "sequence", sequences, {})
        self._schemas = schemas

    def read(self) -> None:
        """Reads the sequences that the catalog has."""
        self.put({row.name: self._made(row) for row in self.rows()})

    def _made(self, row: sa.Row) -> NamedSequence:
        return NamedSequence(self.catalog, row.id, row.name, Counting(*orjson.loads(row.definition)))

    def create(
        self, name: str, counting: Counting, exists_ok: bool = False, taken: Iterable[str] = ()
    ) -> None:
        """Raises NameInUse for the name of a sequence, or of one of the relations that are `taken`."""
        check_relation_name(name)
        self._schemas.require(schema_of(name))
        if name in self.all and exists_ok:
            return
        if name in self.all or name in taken:
            kind = "sequence" if name in self.all else "relation"
            raise NameInUse(f"there is a {kind} called {name} already")
        definition = (
            *(counting.start, counting.increment, counting.minimum, counting.maximum, counting.cycles),
        )
        with self.catalog.changing() as changing:
            changing.has_changed = True
            values = {"name": name, "definition": orjson.dumps(definition).decode()}
            insert = sa.insert(sequences).values(**values, next=str(counting.start))
            id: int = changing.connection.execute(insert.returning(sequences.c.id)).scalar_one()
        self.put({name: NamedSequence(self.catalog, id, name, counting)})

    def drop_unused(self, name: str, missing_ok: bool, users: Sequence[str]) -> None:
        """Raises NotFound, and Conflict while defaults of the tables `users` count with it."""
        if users:
            raise Conflict(
                f"sequence {name} gives the numbers of table {', '.join(users)}",
                f"drop {users[0]} first",
                code="in_use",
            )
        self.drop(name, missing_ok)
