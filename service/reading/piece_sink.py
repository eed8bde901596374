"""A file for writers that want one, whose content is taken in pieces while it is written."""

from __future__ import annotations

from io import RawIOBase


class PieceSink(RawIOBase):
    """A file that returns and forgets what was written to it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: bytes) -> int:  # type: ignore[override]
        piece = bytes(data)
        self._pieces.append(piece)
        self._position += len(piece)
        return len(piece)

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
