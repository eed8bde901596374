"""What is sent again and what is not: against answers that are made up, and a service that is killed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

import freshet
from freshet.connection import Connection
from freshet.contract import calls
from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.errors import UnreachableError
from freshet.sending.retrying import Retries, conversation, may_repeat
from tests.service.client import Process
from tests.service.waiting import wait_until

CHANGE: ApiCall[Any] = calls.change("t", ("application/x-ndjson", b"{}"), None)
READ: ApiCall[Any] = calls.tables()
SQL: ApiCall[Any] = calls.script("DELETE FROM t", None, "postgres")
CREATE: ApiCall[Any] = calls.create_table("t", "id BIGINT", ())
REBUILD: ApiCall[Any] = calls.rebuild("v")

NOT_BEGUN = UnreachableError("refused", began=False)
LOST = UnreachableError("lost", began=True)
LATE = UnreachableError("late", began=True, code="timeout")
CLOSED = UnreachableError("closed", began=False, code="closed")


def problem(status: int, code: str = "overloaded", **members: object) -> ApiAnswer:
    return ApiAnswer(status, {"retry-after": "2"}, orjson.dumps({"code": code, "detail": code, **members}))


@pytest.mark.parametrize(
    ("outcome", "repeated", "once"),
    [
        (NOT_BEGUN, True, True),
        (LOST, True, False),
        (LATE, False, False),
        (CLOSED, False, False),
        (problem(429), True, True),
        (problem(429, index=0), True, True),
        (problem(429, index=1), True, False),
        (problem(503, "not_ready"), True, True),
        (problem(503, "not_ready", index=2), True, False),
        (problem(503, "not_leader"), True, True),
        (problem(503, "not_leader", index=1), True, False),
        (problem(503, "log_unavailable"), True, False),
        (ApiAnswer(503, {}, b"<html>"), True, False),
        (problem(500), False, False),
        (problem(409), False, False),
        (problem(422), False, False),
    ],
)
def test_what_is_sent_again(outcome: Any, repeated: bool, once: bool) -> None:
    """`once`: of calls that do something each time that they are sent."""
    for call in (CHANGE, READ, REBUILD):
        assert may_repeat(call, outcome) == repeated
    for call in (SQL, CREATE, calls.drop("tables", "t")):
        assert may_repeat(call, outcome) == once


def test_pauses_grow_and_heed_the_service() -> None:
    steps = conversation(READ, Retries(4))
    pauses = [next(steps), steps.send(LOST), steps.send(LOST), steps.send(problem(503))]
    assert pauses[0] == 0.0
    assert 0.05 <= pauses[1] <= 0.1
    assert 0.1 <= pauses[2] <= 0.2
    assert pauses[3] >= 2.0
    with pytest.raises(StopIteration) as ended:
        steps.send(ApiAnswer(200, {}, b'{"tables": []}'))
    assert ended.value.value == []


def test_the_last_outcome_is_raised() -> None:
    steps = conversation(READ, Retries(1))
    next(steps)
    steps.send(LOST)
    with pytest.raises(freshet.OverloadedError):
        steps.send(problem(429))


class Lossy:
    """A sender that passes calls on, and loses answers: every one whose number is in `lost`."""

    def __init__(self, sender: Any, lost: range) -> None:
        self._sender = sender
        self._lost = lost
        self.sent: list[ApiCall[Any]] = []

    def send(self, call: ApiCall[Any]) -> ApiAnswer:
        answer = self._sender.send(call)
        self.sent.append(call)
        if len(self.sent) - 1 in self._lost:
            raise UnreachableError("lost", began=True)
        return answer

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        return self._sender.stream(call)

    def close(self) -> None:
        self._sender.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda db, name: db.table(name).insert({"id": 1}),
        lambda db, name: db.table(name).apply([{"insert": {"id": 1}}]),
        lambda db, name: _gathered(db, name),
    ],
    ids=["insert", "apply", "changing"],
)
def test_a_change_whose_answers_are_lost_happens_once(
    db: Connection, name: str, change: Callable[[Connection, str], Any]
) -> None:
    """The table is a bag, so a change that happened twice would show."""
    table = db.table(name).create("id BIGINT")
    sender = Lossy(db._sender, range(3))
    change(Connection(sender, Retries(5)), name)
    assert len(sender.sent) == 4
    assert table.rows().dicts() == [{"id": 1}]


def _gathered(db: Connection, name: str) -> None:
    with db.changing() as changing:
        changing.table(name).insert({"id": 1})


def test_two_calls_that_say_the_same_are_two_changes(db: Connection, name: str) -> None:
    table = db.table(name).create("id BIGINT")
    first = table.insert({"id": 1})
    assert table.insert({"id": 1}).epoch > first.epoch
    again = [table.insert({"id": 1}, idempotency_key=f"{name}-key") for _ in range(2)]
    assert again[0] == again[1]
    assert len(table.rows()) == 3


def test_a_statement_whose_answer_is_lost_is_not_repeated(db: Connection, name: str) -> None:
    table = db.table(name).create("id BIGINT")
    lossy = Connection(Lossy(db._sender, range(1)), Retries(5))
    with pytest.raises(freshet.UnreachableError):
        lossy.sql(f"INSERT INTO {name} VALUES (1)")
    assert len(table.rows()) == 1


def test_changes_survive_kills_of_the_service(start: Callable[..., Process]) -> None:
    """Writers go on while the service is killed and started: each row is there once, and in its order."""
    service = start()
    service.wait_ready()
    writers, each = 3, 25
    progress = [0] * writers
    errors: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            with freshet.connect(service.url, retries=1000) as db:
                for number in range(each):
                    db.table("log").insert({"writer": writer, "number": number})
                    progress[writer] += 1
        except BaseException as error:
            errors.append(error)

    with freshet.connect(service.url) as db:
        db.table("log").create("writer BIGINT, number BIGINT")
    # Writers whose service does not come back go on for an hour: they must not keep the run of the tests.
    threads = [threading.Thread(target=write, args=(writer,), daemon=True) for writer in range(writers)]
    for thread in threads:
        thread.start()
    wait_until(lambda: min(progress) > each // 4 or bool(errors))
    service.kill()
    start(service.port).wait_ready(240)
    wait_until(lambda: progress == [each] * writers or bool(errors))
    assert not errors
    with freshet.connect(service.url) as db:
        rows = sorted(row for row in db.table("log").rows().tuples())
    assert rows == [(writer, number) for writer in range(writers) for number in range(each)]
