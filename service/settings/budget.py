"""The budget of a request's body: rows, and bytes once all encodings are undone.

Both are checked while a body is decoded, piece by piece, so that a small body cannot become a large one.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import TooLarge


@dataclass(frozen=True)
class Budget:
    rows: int
    bytes: int

    def most(self, columns: int) -> int:
        """The most rows for a table of this many columns. A row may take more memory than its text, so a
        wide table gets fewer rows."""
        return max(1, min(self.rows, self.bytes // (2 * columns)))


def too_many_rows(most: int) -> TooLarge:
    """The error for a body of more than `most` rows."""
    return TooLarge(
        f"the body has more than {most} rows",
        "send them in several requests, use a load, or raise FRESHET_BODY_ROWS",
        code="too_many_rows",
    )


def too_many_bytes(most: int) -> TooLarge:
    """The error for a body of more than `most` decoded bytes."""
    return TooLarge(
        f"the body has more than {most} bytes once it is decoded",
        "send it in several requests, or raise FRESHET_BODY_LIMIT",
    )


def too_large(limit: int, setting: str = "FRESHET_BODY_LIMIT") -> TooLarge:
    """The error for a body of more than `limit` bytes."""
    return TooLarge(
        f"the body has more than {limit} bytes", f"send it in several requests, or raise {setting}"
    )
