"""A client that says anything: no crash, no leak, and everybody else is served."""

from __future__ import annotations

import os
import random
import socket
import struct

import pytest

from tests.pgwire.door import PostgresDoor, framed
from tests.seeds import SEED
from tests.service.waiting import wait_until

ROUNDS = int(os.environ.get("FRESHET_FUZZ_ROUNDS", "150"))
CROWD = int(os.environ.get("FRESHET_FUZZ_CONNECTIONS", "100"))
STARTUP = struct.pack("!i", 3 << 16) + b"user\0fuzz\0\0"
MESSAGES = [
    framed(b"Q", b"SELECT 1\0"),
    framed(b"Q", b"BEGIN\0"),
    framed(b"Q", b"INSERT INTO fuzzed VALUES (1)\0"),
    framed(b"Q", b"COPY fuzzed FROM STDIN\0"),
    framed(b"Q", b"COPY (SELECT range FROM range(2000)) TO STDOUT\0"),
    framed(b"Q", b"DECLARE c CURSOR WITH HOLD FOR SELECT range FROM range(9)\0"),
    framed(b"Q", b"FETCH 3 c\0"),
    framed(b"P", b"\0SELECT $1::int\0\0\1\0\0\0\x17"),
    framed(b"B", b"\0\0\0\1\0\1\0\1\0\0\0\4\0\0\0\7\0\0"),
    framed(b"D", b"S\0"),
    framed(b"D", b"P\0"),
    framed(b"E", b"\0\0\0\0\1"),
    framed(b"C", b"P\0"),
    framed(b"S"),
    framed(b"H"),
    framed(b"d", b"1\n"),
    framed(b"c"),
    framed(b"f", b"no\0"),
    framed(b"p", b"password\0"),
    framed(b"F", b"\0\0\0\1"),
    b"Q" + struct.pack("!i", 1 << 30),
    b"d" + struct.pack("!i", 2**31 - 1),
]


def mutated(stream: bytes) -> bytes:
    found = bytearray(stream)
    for _ in range(random.randrange(4)):
        place = random.randrange(max(len(found), 1))
        match random.randrange(3):
            case 0 if found:
                found[place] = random.randrange(256)
            case 1:
                del found[place : place + random.randrange(1, 9)]
            case _:
                found[place:place] = random.randbytes(random.randrange(1, 9))
    return bytes(found)


def hostile(port: int) -> None:
    """One connection that sends messages, wrong ones among them, and ends in one of several ways."""
    with socket.create_connection(("127.0.0.1", port), 240) as client:
        stream = framed(b"", STARTUP) + b"".join(random.choices(MESSAGES, k=random.randrange(12)))
        if random.random() < 0.7:
            stream = mutated(stream)
        try:
            client.sendall(stream)
            match random.randrange(3):
                case 0:
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(1 << 16):
                        pass
                case 1:
                    client.settimeout(0.02)
                    client.recv(1 << 16)
        except OSError:
            pass


def test_whatever_is_sent_the_service_goes_on(door: PostgresDoor) -> None:
    random.seed(SEED)
    with door.connect() as connection:
        connection.execute("CREATE TABLE fuzzed (id INT)")
        connection.execute("CREATE TABLE calm (id INT)")
        for number in range(ROUNDS):
            hostile(door.postgres_port)
            if number % 25 == 0:
                connection.execute("INSERT INTO calm VALUES (1)")
                assert door.insert("calm", {"id": 2}) > 0
        assert connection.execute("SELECT 1").fetchone() == (1,)
        until_alone(door)


def until_alone(door: PostgresDoor) -> None:
    """Waits until one connection is left, and nothing of the others."""
    hall = door.app.state.postgres._hall
    wait_until(lambda: hall.open <= 1 and len(hall.sessions) <= 1)
    assert door.app.state.feeds.open == 0


def test_a_crowd_that_says_nothing_harms_nobody(door: PostgresDoor) -> None:
    with door.connect() as connection:
        crowd = [socket.create_connection(("127.0.0.1", door.postgres_port), 240) for _ in range(CROWD)]
        assert connection.execute("SELECT 1").fetchone() == (1,)
        for client in crowd:
            client.close()
        until_alone(door)


@pytest.mark.parametrize("announced", [1 << 30, 2**31 - 1, -5, 3])
def test_an_announced_length_takes_no_memory(door: PostgresDoor, announced: int) -> None:
    raw = door.raw()
    raw.start()
    raw.socket.sendall(b"Q" + struct.pack("!i", announced))
    found = raw.until(b"E")
    assert found[-1][0] == b"E" and raw.message() is None
