"""Questions to DuckDB are interrupted when their time is over, and not before or after."""

from __future__ import annotations

import os
import threading
from time import monotonic

import duckdb
import pytest

from engine.scalar import interrupting
from engine.scalar.interrupting import interrupted_after

LONG = "SELECT count(*) FROM range(9000000) AS t (a), range(9000000) AS s (b) WHERE a * b % 7 = 3"


@pytest.mark.parametrize("seconds", [0, 0.2])
def test_a_long_question_ends(seconds: float) -> None:
    with duckdb.connect() as connection:
        begun = monotonic()
        with pytest.raises(duckdb.InterruptException), interrupted_after(connection, seconds):
            connection.execute(LONG)
        assert monotonic() - begun >= seconds
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_many_at_once_each_end_in_their_own_time() -> None:
    """A short one that begins while the watch sleeps for a long one wakes it."""
    ended: list[float] = []

    def ask(seconds: float) -> None:
        with duckdb.connect() as connection:
            with pytest.raises(duckdb.InterruptException), interrupted_after(connection, seconds):
                connection.execute(LONG)
            ended.append(seconds)

    with duckdb.connect() as idle, interrupted_after(idle, 3600):
        threads = [threading.Thread(target=ask, args=(seconds,)) for seconds in (4.0, 0.1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ended == [0.1, 4.0]
        assert idle.execute("SELECT 1").fetchall() == [(1,)]


def test_questions_need_no_threads_of_their_own() -> None:
    with duckdb.connect() as connection:
        with interrupted_after(connection, 60):
            before = threading.active_count()
        for _ in range(100):
            with interrupted_after(connection, 60):
                assert threading.active_count() == before


def test_a_closed_connection_does_no_harm_to_others() -> None:
    closed = duckdb.connect()
    with interrupted_after(closed, 0.01):
        closed.close()
        threading.Event().wait(0.2)
        test_a_long_question_ends(0.1)


def test_a_forked_process_has_a_watch_of_its_own() -> None:
    """The thread that watches is not in it."""
    with duckdb.connect() as connection, interrupted_after(connection, 60):
        before = interrupting._watch
        assert before._thread is not None
        pid = os.fork()
        if not pid:
            os._exit(7 if interrupting._watch is not before and interrupting._watch._thread is None else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        assert interrupting._watch is before
