"""Point reads in blocks: of relations that the block sees as they are published.

A table that the block has changed, and a view after any change of the block, are read in the ordinary way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.parsing.parameters import Given
from service.errors import Conflict
from service.reading.point_reads import PointRead
from service.sql.sight import Sight
from service.sql.tasks import Result
from service.writing.transaction import Transaction


@dataclass(frozen=True, eq=False)
class BlockLookup:
    """A point read with its values. Like a task, it can run again over another state."""

    read: PointRead
    given: Mapping[str, Given]
    queries = ()
    statement = None
    of_catalogs = False
    is_repeatable = True

    def is_answerable(self, transaction: Transaction) -> bool:
        """Whether the transaction sees the relation that the read was prepared for, without own changes."""
        definition = self.read.definition
        if transaction.known.all.get(definition.name) is not definition:
            return False
        return not (transaction.changes if definition.is_view else definition.name in transaction.pending)

    def run(self, sight: Sight) -> Result:
        """The result in another transaction. Raises Conflict if there is none from here."""
        transaction = sight.changing()
        answer = None
        if self.is_answerable(transaction):
            answer = self.read.run(transaction.snapshot, None, self.given)
        if answer is None:
            raise outdated()
        return Result("SELECT", sight.epoch, answer=answer)


def outdated() -> Conflict:
    """The error of a block that would not have the same results over the newest state."""
    return Conflict(
        "what the block has read or changed was changed meanwhile by another",
        "send the whole block again",
        code="block_outdated",
    )
