"""What the writer is asked for: changes of tables, and loads of them. Each becomes one epoch, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.runtime.execution import RowScan, Scanned
from service.catalog.catalog import Receipt
from service.changes.table_changes import Applied, Idempotency, TableChanges
from service.definitions.definition import Definition
from service.errors import Conflict

Outcome = Applied | Exception


@dataclass(eq=False, slots=True)
class Request:
    """Checked changes of tables, with the definitions they were checked against; one epoch or none.

    `size` is about how many bytes they take.

    The `receipt` is written in the transaction of the epoch's commit.
    """

    parts: tuple[tuple[Definition, TableChanges], ...]
    idempotency: Idempotency | None = None
    receipt: Receipt | None = None
    size: int = 0
    changes: int = field(init=False)

    def __post_init__(self) -> None:
        self.changes = sum([len(changes.ops) for _, changes in self.parts])


@dataclass(frozen=True, eq=False)
class Load:
    """Rows that Spark reads into a table, as one epoch. `definition` is the one that was checked; `tag`
    names the load for cancellation.

    The `receipt`, for the rows that were read, is written in the transaction of the epoch's commit.
    """

    definition: Definition
    scan: RowScan
    tag: str
    receipt: Callable[[Scanned], Receipt] | None = None


def replaced(definition: Definition) -> Conflict:
    """The error for changes of a table that is no longer the one they were made for."""
    return Conflict(
        f"table {definition.name} has been dropped, altered or created again", code="table_changed"
    )
