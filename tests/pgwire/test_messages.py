"""Bytes into messages: in any pieces, within limits, and with two errors for what is no message."""

from __future__ import annotations

import random
import struct

import pytest

from service.postgres.frontend_messages import (
    BindMessage,
    CancelRequest,
    Malformed,
    ParseMessage,
    QueryMessage,
    SslRequest,
    StartupMessage,
    Sync,
    Unreadable,
)
from service.postgres.message_decoder import STRANGER_BYTES, MessageDecoder, TooLong
from service.postgres.startup import options_of
from tests.pgwire.door import framed
from tests.seeds import SEED

STARTUP = struct.pack("!i", 3 << 16) + b"user\0me\0database\0d\0\0"
BIND = b"p\0s\0" + struct.pack("!HhHi", 1, 1, 2, 3) + b"abc" + struct.pack("!iHh", -1, 1, 0)
STREAM = [
    framed(b"", STARTUP),
    framed(b"Q", b"SELECT 1\0"),
    framed(b"P", b"s\0SELECT $1\0" + struct.pack("!HI", 1, 23)),
    framed(b"B", BIND),
    framed(b"S"),
]
FOUND = [
    StartupMessage(0, {"user": "me", "database": "d"}),
    QueryMessage("SELECT 1"),
    ParseMessage("s", "SELECT $1", (23,)),
    BindMessage("p", "s", (1,), (b"abc", None), (0,)),
    Sync(),
]


def decoded(stream: bytes, size: int, most: int = 1 << 20) -> list[object]:
    """The messages of a stream that arrives in pieces of a size."""
    decoder = MessageDecoder(most)
    decoder.is_known = True
    found: list[object] = []
    for start in range(0, len(stream), size):
        decoder.feed(stream[start : start + size])
        while (message := decoder.next()) is not None:
            found.append(message)
    assert decoder.held == 0
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_messages_are_the_same_in_any_pieces(size: int) -> None:
    assert decoded(b"".join(STREAM), size) == FOUND


def test_requests_may_come_before_the_startup() -> None:
    requests = [struct.pack("!ii", 8, 80877103), struct.pack("!iii", 16, 80877102, 7) + b"\0\0\0\5"]
    assert decoded(b"".join([*requests, STREAM[0]]), 5) == [
        SslRequest(),
        CancelRequest(7, b"\0\0\0\5"),
        FOUND[0],
    ]


@pytest.mark.parametrize(
    ("head", "known", "error"),
    [
        (b"Q" + struct.pack("!i", 1 << 30), True, TooLong),
        (b"d" + struct.pack("!i", 2**31 - 1), True, TooLong),
        (b"Q" + struct.pack("!i", STRANGER_BYTES + 1), False, TooLong),
        (b"S" + struct.pack("!i", 1 << 17), True, TooLong),
        (b"Q" + struct.pack("!i", 3), True, Malformed),
        (b"Q" + struct.pack("!i", -1), True, Malformed),
        (framed(b"?"), True, Malformed),
        (framed(b"Q", b"no end"), True, Malformed),
        (framed(b"Q", b"a\0b"), True, Malformed),
        (framed(b"P", b"\0\0" + struct.pack("!H", 65_535)), True, Malformed),
        (framed(b"B", b"\0\0" + struct.pack("!HHi", 0, 1, 5) + b"abc"), True, Malformed),
        (framed(b"B", b"\0\0" + struct.pack("!HHi", 0, 1, -2)), True, Malformed),
        (framed(b"D", b"X\0"), True, Malformed),
    ],
)
def test_what_is_no_message_is_refused_before_it_is_kept(head: bytes, known: bool, error: type) -> None:
    decoder = MessageDecoder(1 << 20)
    decoder.feed(STREAM[0])
    decoder.next()
    decoder.is_known = known
    decoder.feed(head)
    with pytest.raises(error):
        decoder.next()


@pytest.mark.parametrize(
    "body",
    [
        struct.pack("!i", 2 << 16),
        struct.pack("!i", 3 << 16) + b"user\0",
        struct.pack("!i", 3 << 16) + b"\xff\0x\0\0",
        struct.pack("!i", 80877102),
        b"\0\0",
    ],
)
def test_a_wrong_startup_is_refused(body: bytes) -> None:
    decoder = MessageDecoder(1 << 20)
    decoder.feed(framed(b"", body))
    with pytest.raises(Malformed):
        decoder.next()


def test_a_long_startup_is_refused_by_its_length() -> None:
    decoder = MessageDecoder(1 << 30)
    decoder.feed(struct.pack("!i", 1 << 30))
    with pytest.raises(TooLong):
        decoder.next()


def test_text_that_is_not_utf8_is_an_error_of_the_statement() -> None:
    assert decoded(STREAM[0] + framed(b"Q", b"\xff\0"), 99)[1:] == [Unreadable("Q")]


def test_mutated_streams_give_messages_or_the_two_errors() -> None:
    random.seed(SEED)
    for _ in range(3_000):
        stream = bytearray(b"".join(STREAM))
        for _ in range(random.randrange(1, 6)):
            place = random.randrange(len(stream))
            match random.randrange(3):
                case 0:
                    stream[place] = random.randrange(256)
                case 1:
                    del stream[place : place + random.randrange(1, 9)]
                case 2:
                    stream[place:place] = random.randbytes(random.randrange(1, 9))
        decoder = MessageDecoder(1 << 16)
        decoder.is_known = bool(random.randrange(2))
        try:
            decoder.feed(bytes(stream))
            while decoder.next() is not None:
                pass
        except (Malformed, TooLong):
            pass


RUN = [framed(b"B", b"\0" + BIND[2:]), framed(b"D", b"P\0"), framed(b"E", b"\0" * 5), framed(b"S")]


def run_of(stream: bytes, size: int = 1_000, most: int = 1 << 20) -> tuple[BindMessage, bool] | None:
    """The run at the head of a stream that arrives in pieces of a size after the start-up."""
    decoder = MessageDecoder(most)
    decoder.is_known = True
    decoder.feed(STREAM[0])
    decoder.next()
    found = None
    for start in range(0, len(stream), size):
        assert found is None, "it was not whole yet"
        decoder.feed(stream[start : start + size])
        found = decoder.bound_run()
    if found is not None:
        decoder.take_run()
        assert decoder.held in (0, len(stream) // 2), "one of two runs, or the only one"
    return found


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_run_is_found_once_it_is_whole(size: int) -> None:
    bind = BindMessage("", "s", (1,), (b"abc", None), (0,))
    for run, is_described in ((RUN, True), ([RUN[0], *RUN[2:]], False)):
        whole = b"".join(run)
        assert run_of(whole, size) == (bind, is_described)
    assert run_of(b"".join(RUN + RUN)) == (bind, True)


@pytest.mark.parametrize(
    "stream",
    [
        [framed(b"B", BIND), *RUN[2:]],
        [RUN[0], framed(b"E", b"\0\0\0\0\1"), RUN[3]],
        [RUN[0], framed(b"D", b"Sx\0"), *RUN[2:]],
        [RUN[0], RUN[3], RUN[2]],
        [framed(b"B", b"\0" + BIND[2:-1]), *RUN[2:]],
        [framed(b"B", b"\0\xff" + BIND[3:]), *RUN[2:]],
        [framed(b"B", b"\0" + BIND[2:] + b"x"), *RUN[2:]],
        [b"B\0\0\0\3", *RUN[2:]],
        [b"B\xff\xff\xff\xff", *RUN[2:]],
        RUN[2:],
    ],
)
def test_what_is_no_run_is_left_to_the_usual_way(stream: list[bytes]) -> None:
    assert run_of(b"".join(stream)) is None


def test_a_run_that_is_too_long_is_none() -> None:
    assert run_of(b"".join(RUN), most=len(RUN[0]) - 1) is not None
    assert run_of(b"".join(RUN), most=len(RUN[0]) - 2) is None


def test_options_have_settings() -> None:
    given = r"-c search_path=a\ b --statement-timeout=5 -cgeqo=off -x"
    assert options_of(given) == {"search_path": "a b", "statement_timeout": "5", "geqo": "off"}
