"""From bytes as they arrive to messages, without any input or output of its own.

A length is held against its limit before anything is kept for it, so a client that announces a gigabyte gets
an error instead of memory. Before a client is known, its messages have to be short.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from service.postgres.frontend_messages import (
    BIND,
    BindMessage,
    Frontend,
    Malformed,
    Startup,
    StartupMessage,
    read_bind,
    read_message,
    read_startup,
)

STARTUP_BYTES = 10_000
"""The longest message of the start-up, as in PostgreSQL."""
STRANGER_BYTES = 65_536
"""The longest message of a client that is not known yet."""
_LONG = frozenset(b"QPBdFp")
"""Types of messages that may be long."""
_SHORT = 1 << 16
_length = struct.Struct("!i").unpack_from
_RUN = b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"
"""Execute all of the portal without a name, and Sync."""
_DESCRIBED_RUN = b"D\0\0\0\x06P\0" + _RUN
"""The same after Describe of this portal."""


@dataclass(frozen=True)
class TooLong(Exception):
    """A message of `size` bytes is over the limit `most`."""

    size: int
    most: int


class MessageDecoder:
    """`feed` it bytes, and take messages with `next` until there is None."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._buffer: bytes | bytearray = b""
        self._at = 0
        self._run_end = 0
        self._is_starting = True
        self.is_known = False
        """Whether the client has shown who it is."""

    @property
    def held(self) -> int:
        """The bytes that have been fed and are not part of a message yet."""
        return len(self._buffer) - self._at

    def feed(self, data: bytes) -> None:
        if self._at == len(self._buffer):
            self._buffer = data
        else:
            if not isinstance(self._buffer, bytearray):
                self._buffer = bytearray(self._buffer)
            del self._buffer[: self._at]
            self._buffer += data
        self._at = 0

    def next(self) -> Startup | Frontend | None:
        """The next whole message; None if there is none yet. Raises Malformed and TooLong."""
        return self._startup() if self._is_starting else self._message()

    def bound_run(self) -> tuple[BindMessage, bool] | None:
        """The Bind of a run at the head of what is held, and whether its portal is described; None if it is
        not whole, or something else, or not well formed, as `next` will say.

        A run is a statement that is bound to the portal without a name, perhaps described, run whole and
        ended by Sync. It is held until `take_run`.
        """
        buffer, at = self._buffer, self._at
        if len(buffer) < at + 5 or buffer[at] != BIND:
            return None
        (size,) = _length(buffer, at + 1)
        end = at + 1 + size
        is_described = buffer.startswith(_DESCRIBED_RUN, end)
        if not 4 <= size <= self._most or not (is_described or buffer.startswith(_RUN, end)):
            return None
        try:
            bind = read_bind(bytes(buffer[at + 5 : end]))
        except (Malformed, UnicodeDecodeError):
            return None
        self._run_end = end + len(_DESCRIBED_RUN if is_described else _RUN)
        return None if bind.portal else (bind, is_described)

    def take_run(self) -> None:
        """Takes the run that `bound_run` has found."""
        self._at = self._run_end

    def _startup(self) -> Startup | None:
        size = self._size(0, STARTUP_BYTES)
        if size is None:
            return None
        found = read_startup(self._taken(4, size))
        self._is_starting = not isinstance(found, StartupMessage)
        return found

    def _message(self) -> Frontend | None:
        buffer, at = self._buffer, self._at
        if len(buffer) < at + 5:
            return None
        type = buffer[at]
        most = self._most if type in _LONG else min(_SHORT, self._most)
        size = self._size(1, most if self.is_known else min(most, STRANGER_BYTES))
        return None if size is None else read_message(type, self._taken(5, size + 1))

    def _size(self, before: int, most: int) -> int | None:
        """The length that is written `before` bytes after the start; None if the message is not whole."""
        start = self._at + before
        if len(self._buffer) < start + 4:
            return None
        (size,) = _length(self._buffer, start)
        if size < 4:
            raise Malformed(f"a message cannot have a length of {size}")
        if size > most:
            raise TooLong(size, most)
        return size if len(self._buffer) >= start + size else None

    def _taken(self, head: int, size: int) -> bytes:
        """The message of `size` bytes without its head; it is not in the buffer any more."""
        body = bytes(self._buffer[self._at + head : self._at + size])
        self._at += size
        return body
