"""Interning: a plan node that gives every distinct row an integer of its own.

After McSherry, "String interning and beyond, in differential dataflow".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from engine.errors import PlanError
from engine.plan.node import Unary
from engine.plan.nodes import Node, project
from engine.schema import BIGINT, Column, Schema

WORD_BITS = 64


@dataclass(frozen=True)
class IdHash:
    """A family of hashes of rows, one for each round; `seed` selects the family.

    The hash of round r has `bits[r]` bits and is not negative; past the end of `bits` it has all 64. Narrow
    rounds give short ids as long as few rows exist, at the price of more collisions.
    """

    seed: int = 0
    bits: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not -(2**63) <= self.seed < 2**63:
            raise PlanError(f"a hash's seed {self.seed} is not a 64-bit integer")
        for bits in self.bits:
            if not 1 <= bits <= WORD_BITS:
                raise PlanError(f"a hash has 1 to {WORD_BITS} bits, not {bits}")


DEFAULT_HASH = IdHash()


@dataclass(frozen=True, eq=False)
class Intern(Unary):
    """The distinct rows of the input, each with an id: BIGINT, the last column, unique and never NULL.

    A row's id is its hash of round 0. If several rows have one hash, one of them keeps it: the one that
    proposes it in the earliest round and, among those, the least by words. The others go on to their hashes
    of the next round, until none collide. So ids depend on the existing rows and on `hash`, not on the order
    in which rows came: a new row may take the id of a row that it collides with, and that row gets it back
    when the new one goes.

    The node stores the input's rows once more, sorted by hash: 24 bytes a row and 8 a column. A change costs
    a lookup for each of its rows. Only rows that collide cost more, one in 10**12 at ten million rows of
    64-bit hashes: their groups are evaluated one by one.
    """

    hash: IdHash = DEFAULT_HASH

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        return Schema((*self.input.schema.columns, Column("id", BIGINT, nullable=False)))


def intern_rows(input: Node, columns: tuple[int, ...] | None = None, hash: IdHash = DEFAULT_HASH) -> Intern:
    """Ids for the distinct rows of the given columns of `input`, or of all its columns."""
    chosen = tuple(range(len(input.schema))) if columns is None else columns
    return Intern(project(input, chosen), hash)
