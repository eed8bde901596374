"""Histories of transactions that append values to lists and read lists, as clients have seen them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = int
Value = int


@dataclass(frozen=True)
class Read:
    """What a transaction found in a list before its own appends. `is_ordered`: in the list's order."""

    values: tuple[Value, ...]
    is_ordered: bool = True


@dataclass(frozen=True)
class Transaction:
    """One client's transaction, between two moments of one clock. It appends at most one value to a list.

    `is_committed` is None if the client does not know. `epoch` is the one that the service has named; a
    transaction without appends was at the end of it. A transaction of the past reads what was: it may be
    behind others that had ended before it began.
    """

    number: int
    began: int
    ended: int
    appends: Mapping[Key, Value] = field(default_factory=dict)
    reads: Mapping[Key, Read] = field(default_factory=dict)
    is_committed: bool | None = True
    is_of_the_past: bool = False
    epoch: int | None = None


History = list[Transaction]
