"""Changes on their way to those who follow a table: each row that is inserted, until every follower has it.

A follower of Freshet has a COPY of a SUBSCRIBE. PostgreSQL has nothing that tells rows to clients, so there a
trigger notifies them, and they LISTEN.
"""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from contextlib import ExitStack

from bench.duck import WrongAnswer
from bench.wire.frontend import READY, query
from bench.wire.generator import TIMEOUT, Driven, WireClient, processor
from bench.wire.systems import FRESHET

SUBSCRIBE = "COPY (SUBSCRIBE TO followed WITH (SNAPSHOT = false)) TO STDOUT"
_TABLE = "CREATE TABLE followed (id BIGINT PRIMARY KEY, note TEXT)"
_TRIGGER = """
    CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_notify('followed', NEW.id || ' ' || NEW.note); RETURN NULL; END $$;
    CREATE TRIGGER tells AFTER INSERT ON followed FOR EACH ROW EXECUTE FUNCTION told()
"""
_PAUSE = 0.1
"""Seconds between the last arrival of a row and the next INSERT."""


def prepare(port: int, name: str) -> None:
    """Makes the table, for the system of this name."""
    with WireClient(port) as client:
        client.run(_TABLE)
        if name != FRESHET:
            client.run(_TRIGGER)


def follow(port: int, name: str, followers: int, rows: Sequence[int]) -> Driven:
    """Inserts the rows; takes the nanoseconds from each INSERT's answer until each follower has the row, 0
    if it has it before."""
    with ExitStack() as open:
        writer = open.enter_context(WireClient(port))
        clients = [open.enter_context(WireClient(port)) for _ in range(followers)]
        for client in clients:
            _begin(client, name)
        selector = select.epoll()
        streams = {client.socket.fileno(): client.socket for client in clients}
        for number in streams:
            selector.register(number, select.EPOLLIN)
        start, busy = time.perf_counter(), processor()
        taken = [one for row in rows for one in _inserted(writer, selector, streams, row)]
        return Driven(taken, time.perf_counter() - start, processor() - busy)


def _begin(client: WireClient, name: str) -> None:
    if name == FRESHET:
        client.socket.sendall(query(SUBSCRIBE))
        client.receive()  # CopyOutResponse
    else:
        client.run("LISTEN followed")


def _inserted(writer: WireClient, selector: select.epoll, streams: dict, row: int) -> list[int]:
    """The nanoseconds of one row, by follower."""
    clock, note = time.perf_counter_ns, f"row {row}".encode()
    number = writer.socket.fileno()
    selector.register(number, select.EPOLLIN)
    writer.socket.sendall(query(f"INSERT INTO followed VALUES ({row}, 'row {row}')"))
    arrived: dict[int, int] = {}
    answered = None
    while answered is None or len(arrived) < len(streams):
        ready = selector.poll(TIMEOUT)
        if not ready:
            raise WrongAnswer(f"{len(streams) - len(arrived)} followers do not get row {row}")
        for which, _ in ready:
            if which == number:
                writer.until(READY)
                answered = clock()
            elif note in streams[which].recv(1 << 16):
                arrived[which] = clock()
    selector.unregister(number)
    time.sleep(_PAUSE)
    return [max(0, at - answered) for at in arrived.values()]
