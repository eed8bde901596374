"""What the body of one request may come to: rows, and bytes once all encodings are undone.

Both are kept while a body is decoded, piece by piece, so that a small body cannot become a large one.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import TooLarge


@dataclass(frozen=True)
class Budget:
    rows: int
    bytes: int

    def most(self, columns: int) -> int:
        """The rows that a table of so many columns may be given: rows may outgrow their text, so a wide one
        gets fewer."""
        return max(1, min(self.rows, self.bytes // (2 * columns)))


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
