"""What clients send: each message of PostgreSQL's protocol 3.0 as a frozen record.

`read_message` and `read_startup` turn the bytes of one whole message into its record. They trust nothing:
each length is held against the bytes that are there before anything is taken. A message that is not well
formed is `Malformed`, which ends the connection; one whose text is not UTF-8 is `Unreadable`, which is an
error of the statement.

Source: PostgreSQL's manual, "Message Formats".
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

PROTOCOL_MAJOR = 3
_SSL, _GSSENC, _CANCEL = 80877103, 80877104, 80877102
BIND = ord("B")
_PARAMETERS = 1_000
"""The most parameters of a start-up."""


class Malformed(Exception):
    """Bytes that are no message of the protocol."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


# The start-up, whose messages have no type


@dataclass(frozen=True)
class SslRequest:
    pass


@dataclass(frozen=True)
class GssEncRequest:
    pass


@dataclass(frozen=True)
class CancelRequest:
    pid: int
    secret: bytes


@dataclass(frozen=True)
class StartupMessage:
    """`minor` is the minor version of the protocol that the client speaks."""

    minor: int
    parameters: dict[str, str] = field(default_factory=dict)


Startup = SslRequest | GssEncRequest | CancelRequest | StartupMessage


# Afterwards


@dataclass(frozen=True)
class QueryMessage:
    sql: str


@dataclass(frozen=True)
class ParseMessage:
    """`types` are OIDs, 0 for a type that the service has to find out."""

    name: str
    sql: str
    types: tuple[int, ...]


class BindMessage(NamedTuple):
    """A tuple, because it is the message that comes most often.

    `values` are None for NULL. Formats are 0 for text and 1 for binary: none, one for all, or one each."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]


@dataclass(frozen=True)
class DescribeMessage:
    """Of a statement (`S`) or a portal (`P`)."""

    kind: str
    name: str


@dataclass(frozen=True)
class CloseMessage:
    kind: str
    name: str


@dataclass(frozen=True)
class ExecuteMessage:
    """`limit` is the most rows; 0 for all."""

    portal: str
    limit: int


@dataclass(frozen=True)
class Sync:
    pass


@dataclass(frozen=True)
class Flush:
    pass


@dataclass(frozen=True)
class Terminate:
    pass


@dataclass(frozen=True)
class CopyData:
    data: bytes


@dataclass(frozen=True)
class CopyDone:
    pass


@dataclass(frozen=True)
class CopyFail:
    reason: str


@dataclass(frozen=True)
class Credentials:
    """A password, or a step of SASL; the state of the authentication says which."""

    data: bytes


@dataclass(frozen=True)
class FunctionCall:
    pass


@dataclass(frozen=True)
class Unreadable:
    """A message of this type whose text is not UTF-8."""

    type: str


Frontend = (
    QueryMessage
    | ParseMessage
    | BindMessage
    | DescribeMessage
    | CloseMessage
    | ExecuteMessage
    | Sync
    | Flush
    | Terminate
    | CopyData
    | CopyDone
    | CopyFail
    | Credentials
    | FunctionCall
    | Unreadable
)


_int32 = struct.Struct("!i").unpack_from


def read_message(type: int, body: bytes) -> Frontend:
    """The message of a type and a body. Raises Malformed."""
    often = _OFTEN.get((type, body))
    if often is not None:
        return often
    try:
        return read_bind(body) if type == BIND else _read(type, body)
    except UnicodeDecodeError:
        return Unreadable(chr(type))


def _read(type: int, body: bytes) -> Frontend:
    reader = _READERS.get(type)
    if reader is None:
        raise Malformed(f"there is no message of type {type}")
    cursor = _Cursor(body)
    found = reader(cursor)
    if cursor.left:
        raise Malformed(f"a message of type {chr(type)} has {cursor.left} bytes too many")
    return found


def read_bind(body: bytes) -> BindMessage:
    """The Bind of a body: the message that comes most often, read without a cursor. Raises Malformed and
    UnicodeDecodeError."""
    middle = body.find(b"\0")
    end = body.find(b"\0", middle + 1)
    if middle < 0 or end < 0:
        raise Malformed("a text in a message does not end")
    formats, at = _numbers(body, end + 1, "h")
    values, at = _values(body, at)
    results, at = _numbers(body, at, "h")
    if at != len(body):
        raise Malformed(f"a message of type B has {len(body) - at} bytes too many")
    return BindMessage(body[:middle].decode(), body[middle + 1 : end].decode(), formats, values, results)


def read_startup(body: bytes) -> Startup:
    """The first message of a connection. Raises Malformed."""
    cursor = _Cursor(body)
    code = cursor.int32()
    if code == _SSL:
        return SslRequest()
    if code == _GSSENC:
        return GssEncRequest()
    if code == _CANCEL:
        return CancelRequest(cursor.int32(), cursor.rest())
    if code >> 16 != PROTOCOL_MAJOR:
        raise Malformed(f"protocol {code >> 16}.{code & 0xFFFF} is not spoken here: use version 3.0")
    parameters: dict[str, str] = {}
    try:
        while name := cursor.text():
            parameters[name] = cursor.text()
            if len(parameters) > _PARAMETERS:
                raise Malformed(f"the start-up has more than {_PARAMETERS} parameters")
    except UnicodeDecodeError:
        raise Malformed("a parameter of the start-up is not UTF-8") from None
    return StartupMessage(code & 0xFFFF, parameters)


class _Cursor:
    """Reads the parts of a body one after another."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._body) - self._at

    def take(self, size: int) -> bytes:
        start, end = self._at, self._at + size
        if size < 0 or end > len(self._body):
            raise Malformed("a message ends before its parts do")
        self._at = end
        return self._body[start:end]

    def rest(self) -> bytes:
        return self.take(self.left)

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def text(self) -> str:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise Malformed("a text in a message does not end")
        found = self._body[self._at : end]
        self._at = end + 1
        return found.decode()

    def numbers(self, form: str) -> tuple[int, ...]:
        """A count of 16 bits without a sign, and so many numbers."""
        found, self._at = _numbers(self._body, self._at, form)
        return found

    def kind(self) -> str:
        found = self.take(1)
        if found not in (b"S", b"P"):
            raise Malformed("what is described or closed is neither a statement nor a portal")
        return found.decode()


def _numbers(body: bytes, at: int, form: str) -> tuple[tuple[int, ...], int]:
    """So many numbers as a count of 16 bits at a place says, and the place after them."""
    if body[at : at + 2] == b"\0\0":
        return (), at + 2
    count, at = int.from_bytes(body[at : at + 2], "big"), at + 2
    end = at + count * struct.calcsize(form)
    if end > len(body):
        raise Malformed("a message ends before its parts do")
    return struct.unpack(f"!{count}{form}", body[at:end]), end


def _values(body: bytes, at: int) -> tuple[tuple[bytes | None, ...], int]:
    """So many values as a count of 16 bits at a place says, each after its length, and the place after
    them."""
    count, at, end = int.from_bytes(body[at : at + 2], "big"), at + 2, len(body)
    found: list[bytes | None] = []
    for _ in range(count):
        if end < at + 4:
            raise Malformed("a message ends before its parts do")
        (size,) = _int32(body, at)
        at += 4
        if size == -1:
            found.append(None)
            continue
        if not 0 <= size <= end - at:
            raise Malformed("a message ends before its parts do")
        found.append(body[at : at + size])
        at += size
    return tuple(found), at


_OFTEN: dict[tuple[int, bytes], Frontend] = {
    (ord("S"), b""): Sync(),
    (ord("E"), b"\0\0\0\0\0"): ExecuteMessage("", 0),
    (ord("D"), b"P\0"): DescribeMessage("P", ""),
}
"""Messages that come often, whole."""
_READERS: dict[int, Callable[[_Cursor], Frontend]] = {
    ord("Q"): lambda c: QueryMessage(c.text()),
    ord("P"): lambda c: ParseMessage(c.text(), c.text(), c.numbers("I")),
    ord("D"): lambda c: DescribeMessage(c.kind(), c.text()),
    ord("C"): lambda c: CloseMessage(c.kind(), c.text()),
    ord("E"): lambda c: ExecuteMessage(c.text(), c.int32()),
    ord("S"): lambda c: Sync(),
    ord("H"): lambda c: Flush(),
    ord("X"): lambda c: Terminate(),
    ord("d"): lambda c: CopyData(c.rest()),
    ord("c"): lambda c: CopyDone(),
    ord("f"): lambda c: CopyFail(c.text()),
    ord("p"): lambda c: Credentials(c.rest()),
    ord("F"): lambda c: _function_call(c),
}


def _function_call(cursor: _Cursor) -> FunctionCall:
    cursor.rest()
    return FunctionCall()
