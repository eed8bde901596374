"""What the body of one request may come to: rows, and bytes once all encodings are undone.

Both are kept while a body is decoded, piece by piece, so that a small body cannot become a large one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from service.changes import TableChanges
from service.definition import Definition
from service.errors import TooLarge


@dataclass(frozen=True)
class Budget:
    rows: int
    bytes: int

    def most(self, definition: Definition) -> int:
        """The rows that a table may be given. Of a wide one they are fewer: rows may outgrow their text."""
        return max(1, min(self.rows, self.bytes // (2 * len(definition.schema))))

    def gather(self, parts: Iterable[TableChanges], definition: Definition) -> TableChanges:
        """All parts, which are made one after the other. TooLarge as soon as they are too many."""
        most, count = self.most(definition), 0
        kept = []
        for part in parts:
            count += len(part)
            if count > most:
                raise too_many_rows(most)
            kept.append(part)
        return TableChanges.concat(kept) if kept else definition.no_changes


def too_many_rows(most: int) -> TooLarge:
    """What the sender of more than so many rows is told."""
    return TooLarge(
        f"the body has more than {most} rows",
        "send them in several requests, have a load read them, or raise FRESHET_BODY_ROWS",
        code="too_many_rows",
    )


def too_many_bytes(most: int) -> TooLarge:
    """What the sender of a body is told that holds more than so many bytes when it is decoded."""
    return TooLarge(
        f"the body holds more than {most} bytes when it is decoded",
        "send it in several requests, or raise FRESHET_BODY_LIMIT",
    )


def too_large(limit: int, setting: str = "FRESHET_BODY_LIMIT") -> TooLarge:
    """What the sender of a body of more than `limit` bytes is told."""
    return TooLarge(
        f"the body has more than {limit} bytes", f"send it in several requests, or raise {setting}"
    )
