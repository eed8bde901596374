"""Workers answer queries as DuckDB in this process does, within limits; the end of one harms no other."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from engine.codec.json import encode_rows
from engine.errors import InvalidValue
from engine.processes import children
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state.dictionary import Dictionary
from planner.adhoc.adhoc_query import AdhocQuery
from planner.errors import InvalidSyntax, PlannerError
from service.errors import ServiceError
from service.reading import worker_process
from service.reading.callers import Caller
from service.reading.duck import Answer, Duck, QueryEvaluator, anything
from service.reading.given_tables import arrow_table
from service.reading.query_errors import CallerGone
from service.reading.query_worker import AskedQuery, WorkerRules, work
from service.reading.results import is_written
from service.reading.table_memory import TablePlaces
from service.reading.worker_pool import WorkerPool
from service.settings.query_limits import QueryLimits
from tests.service.client import PATIENCE
from tests.service.kept_workers import KeepingPool
from tests.service.waiting import wait_until

ENDLESS = "SELECT count(*) FROM range(100000000000000) AS t (n) WHERE n % 7 > n % 5 + 6"
SPILLING = (
    "SELECT count(DISTINCT hash(n)::VARCHAR || hash(n * 3) || hash(n * 7) || hash(n * 11)) AS n "
    "FROM range(1500000) AS t (n)"
)
"""Holds more rows than fit into little memory, and they cannot be compressed."""
SMALL = QueryLimits(seconds=30, memory=64 << 20, disk=8 << 20, answer_rows=1000, answer_bytes=1 << 20)


def query(sql: str) -> AdhocQuery:
    return AdhocQuery(sql, ())


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., WorkerPool]]:
    """Makes pools, which close at the end."""
    made: list[WorkerPool] = []

    def make(size: int = 1, **limits: float) -> WorkerPool:
        pool = WorkerPool(WorkerRules(replace(SMALL, **limits), tmp_path, 5), size)  # type: ignore[arg-type]
        made.append(pool)
        return pool

    yield make
    for pool in made:
        pool.close()
    assert list(tmp_path.iterdir()) == [], "a worker has left files"


def run(pool: WorkerPool, sql: str, caller: Caller | None = None, **tables: pa.Table) -> Answer:
    return pool.evaluator(caller or Caller()).run(query(sql), tables)


def begun(
    threads: ThreadPoolExecutor, pool: WorkerPool, sql: str, caller: Caller | None = None
) -> Future[Answer]:
    """A query that runs in a worker."""
    future = threads.submit(run, pool, sql, caller)
    wait_until(lambda: any(map(is_working, pool.pids)))
    return future


def is_working(pid: int) -> bool:
    """Whether a process computes: a worker that waits does not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] == "R"


def is_alive(pid: int) -> bool:
    """Whether any thread of the process runs. A process that has ended may wait to be reaped."""
    try:
        threads = len(os.listdir(f"/proc/{pid}/task"))
        return threads > 1 or Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def refused(pool: WorkerPool, sql: str) -> str:
    """The code of the error that a query ends with."""
    with pytest.raises(ServiceError) as error:
        run(pool, sql)
    return error.value.code


# Answers


VALUES = """
    SELECT i, (i + 3)::UTINYINT AS u, i::HUGEINT AS h, i / 3 AS d, i::FLOAT AS f,
        (i / 7)::DECIMAL(12, 3) AS n, i % 2 = 0 AS b, 't' || i AS t, ('t' || i)::BLOB AS z,
        DATE '2020-01-01' + i::INTEGER AS day,
        TIME '10:00:00' + i * INTERVAL 1 MINUTE AS at, TIMESTAMP '2020-01-01' + i * INTERVAL 1 HOUR AS ts,
        (TIMESTAMP '2020-01-01' + i * INTERVAL 1 HOUR)::TIMESTAMPTZ AS tz, i * INTERVAL 1 MONTH AS span,
        [i, NULL] AS list, [['a'], []] AS nested, {'a': i, 'b': 'x'} AS struct, MAP {i: 'x'} AS map,
        (CASE i % 2 WHEN 0 THEN 'yes' ELSE 'no' END)::ENUM('yes', 'no') AS enum,
        '00000000-0000-0000-0000-00000000000a'::UUID AS id, '{"a": 1}'::JSON AS doc, '101'::BIT AS bits,
        NULL AS nothing
    FROM range(-3, 4) AS t (i)
"""


@pytest.mark.parametrize(
    "sql",
    [
        VALUES,
        f"SELECT * FROM ({VALUES}) WHERE i > 100",
        f"SELECT if(n > 0, COLUMNS(* EXCLUDE (n)), NULL) FROM ({VALUES})",
        "SELECT a, b FROM given ORDER BY a",
        "SELECT count(*) AS n, min(e) AS least FROM empty",
        "SELECT * FROM empty",
        "SELECT NULL AS x",
        "SELECT 1 AS a, 2 AS a",
    ],
)
def test_an_answer_is_the_one_of_this_process(make: Callable[..., WorkerPool], sql: str) -> None:
    tables = {
        "given": pa.table({"a": [2, None, 1], "b": ["x", "", None]}),
        "empty": pa.table({"e": pa.array([], pa.int64())}),
    }
    for carried in (lambda type: True, is_written):
        duck = Duck()
        expected = duck.run(query(sql), tables, carried)
        duck.close()
        if carried is is_written:
            found = make().evaluator(Caller()).run(query(sql), tables, is_written)
        else:
            found = run(make(), sql, **tables)
        assert (found.names, found.types) == (expected.names, expected.types)
        assert found.table.schema.equals(expected.table.schema, check_metadata=True)
        assert found.table.combine_chunks().equals(expected.table.combine_chunks())


def test_an_answer_may_have_many_pieces(make: Callable[..., WorkerPool]) -> None:
    pool = make(answer_rows=10**6, answer_bytes=1 << 30)
    answer = run(pool, "SELECT n, 'row ' || n AS t FROM range(500000) AS r (n) ORDER BY n")
    assert answer.table.column("n").to_pylist() == list(range(500_000))
    assert answer.table.column("t")[499_999].as_py() == "row 499999"


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("SELECT FROM", InvalidSyntax, "syntax error"),
        ("SELECT nope FROM given", PlannerError, "nope"),
        ("SELECT CAST(b AS INTEGER) FROM given", InvalidValue, "could not convert string 'x'"),
        ("SELECT read_text('/etc/passwd')", PlannerError, "read_text"),
    ],
)
def test_an_error_is_the_one_of_this_process(
    make: Callable[..., WorkerPool], sql: str, error: type[Exception], message: str
) -> None:
    given, pool, duck = pa.table({"b": ["x"]}), make(), Duck()
    with pytest.raises(error, match=message) as here:
        duck.run(query(sql), {"given": given})
    duck.close()
    with pytest.raises(error, match=message) as there:
        run(pool, sql, given=given)
    assert vars(there.value) == vars(here.value)
    assert run(pool, "SELECT b FROM given", given=given).table.to_pylist() == [{"b": "x"}]


def test_several_at_once(make: Callable[..., WorkerPool]) -> None:
    pool = make(3)
    with ThreadPoolExecutor(12) as threads:
        tables = [pa.table({"a": np.arange(n)}) for n in range(60)]
        sums = threads.map(
            lambda t: run(pool, "SELECT sum(a)::BIGINT AS s, count(*) AS n FROM t", t=t), tables
        )
        found = [answer.table.to_pylist()[0] for answer in sums]
    assert found == [{"s": sum(range(n)) if n else None, "n": n} for n in range(60)]
    assert len(pool.pids) <= 3


# Bags


def bag(*counted: tuple[int, str, int]) -> pa.Table:
    schema = Schema((Column("a", BIGINT), Column("b", TEXT)))
    dictionary = Dictionary()
    words = encode_rows([row[:2] for row in counted], schema, dictionary)
    return arrow_table((words, np.array([row[2] for row in counted], np.int64)), schema, dictionary)


def test_the_rows_of_a_bag_come_as_often_as_they_count(make: Callable[..., WorkerPool]) -> None:
    rng = np.random.default_rng(1)
    counts = [int(count) for count in rng.integers(1, 40, 50)]
    table = bag(*((a, f"t{a}", count) for a, count in enumerate(counts)))
    pool = make(answer_rows=10**6)
    found = run(pool, "SELECT a, min(b) AS b, count(*) AS n FROM t GROUP BY a ORDER BY a", t=table)
    assert [tuple(row.values()) for row in found.table.to_pylist()] == [
        (a, f"t{a}", count) for a, count in enumerate(counts)
    ]
    assert run(pool, "SELECT * FROM t", t=table).table.num_rows == sum(counts)
    assert run(pool, "SELECT * FROM t", t=table).table.column_names == ["a", "b"]


@pytest.mark.parametrize("name", ["given", "range", "count#", "COUNT#"])
def test_columns_may_have_the_names_that_repeating_uses(make: Callable[..., WorkerPool], name: str) -> None:
    schema, dictionary = Schema((Column(name, BIGINT),)), Dictionary()
    table = arrow_table((encode_rows([(7,)], schema, dictionary), np.array([3])), schema, dictionary)
    answer = run(make(), "SELECT * FROM t", t=table)
    assert answer.table.to_pylist() == [{name: 7}] * 3


def test_a_count_takes_no_memory(make: Callable[..., WorkerPool]) -> None:
    table = bag((1, "x", 10**11), (2, "y", 1))
    pool = make()
    assert run(pool, "SELECT a, b FROM t WHERE a = 1 LIMIT 3", t=table).table.num_rows == 3
    assert run(pool, "SELECT count(*) AS n FROM t WHERE a > 1", t=table).table.to_pylist() == [{"n": 1}]
    with pytest.raises(ServiceError) as error:
        run(make(seconds=0.2), "SELECT count(*) FROM t", t=table)
    assert error.value.code == "query_timeout"


# Limits


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT list(n) FROM range(50000000) AS t (n)", "query_out_of_memory"),
        ("SELECT n FROM range(2000) AS t (n)", "query_too_many_rows"),
        ("SELECT repeat('x', 30000) || n AS t FROM range(100) AS t (n)", "query_too_large"),
        (SPILLING, "query_out_of_disk"),
    ],
)
def test_a_query_beyond_a_limit_is_refused(make: Callable[..., WorkerPool], sql: str, code: str) -> None:
    pool = make()
    assert refused(pool, sql) == code
    assert run(pool, "SELECT 1 AS a").table.to_pylist() == [{"a": 1}]


def test_what_does_not_fit_into_memory_goes_to_disk(make: Callable[..., WorkerPool]) -> None:
    assert run(make(disk=1 << 30), SPILLING).table.to_pylist() == [{"n": 1_500_000}]


def test_a_query_that_is_out_of_time_ends_and_the_worker_goes_on(
    make: Callable[..., WorkerPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "_GRACE_SECONDS", PATIENCE)
    pool = make(seconds=2)
    assert refused(pool, ENDLESS) == "query_timeout"
    pids = pool.pids
    assert run(pool, "SELECT 1 AS a").table.to_pylist() == [{"a": 1}]
    assert pool.pids == pids


def test_a_worker_that_does_not_react_is_killed(make: Callable[..., WorkerPool]) -> None:
    pool = make(seconds=2)
    run(pool, "SELECT 1")
    (pid,) = pool.pids
    os.kill(pid, signal.SIGSTOP)
    assert refused(pool, "SELECT 2") == "query_timeout"
    assert not is_alive(pid)
    assert run(pool, "SELECT 3 AS a").table.to_pylist() == [{"a": 3}]


def test_the_memory_of_a_worker_is_limited_by_the_system_too(make: Callable[..., WorkerPool]) -> None:
    pool = make()
    run(pool, "SELECT 1")
    limits = Path(f"/proc/{pool.pids[0]}/limits").read_text()
    (line,) = (line for line in limits.splitlines() if line.startswith("Max data size"))
    used = Path(f"/proc/{pool.pids[0]}/status").read_text().partition("VmData:")[2].split()[0]
    assert int(line.split()[3]) < (int(used) << 10) + SMALL.memory + (300 << 20)


def test_tables_are_not_memory_of_the_worker(make: Callable[..., WorkerPool]) -> None:
    table = pa.table({"a": np.arange(60_000_000)})
    answer = run(make(), "SELECT max(a) AS a FROM t", t=table)  # 480 MB, beyond all limits of the worker
    assert answer.table.to_pylist() == [{"a": 59_999_999}]


# Ends


def test_a_worker_that_is_killed_fails_its_own_query_only(make: Callable[..., WorkerPool]) -> None:
    pool = make(2)
    with ThreadPoolExecutor(2) as threads:
        lost = begun(threads, pool, ENDLESS)
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        error = lost.exception(PATIENCE)
        assert isinstance(error, ServiceError)
        assert (error.status, error.code) == (503, "query_interrupted")
        assert "signal 9" in error.message
    assert run(pool, "SELECT 1 AS a").table.to_pylist() == [{"a": 1}]
    assert pid not in pool.pids


def test_a_worker_that_ends_while_it_waits_harms_no_query(make: Callable[..., WorkerPool]) -> None:
    pool = make()
    run(pool, "SELECT 1")
    (pid,) = pool.pids
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    assert run(pool, "SELECT 2 AS a").table.to_pylist() == [{"a": 2}]


@pytest.mark.parametrize("kind", [WorkerPool, KeepingPool])
def test_a_worker_that_dies_before_it_was_asked_harms_no_query(
    kind: type[WorkerPool], tmp_path: Path
) -> None:
    rules = WorkerRules(SMALL, tmp_path, 5)
    pools = [kind(rules, 1)]
    pools[0].warm()
    (pid,) = pools[0].pids
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    if kind is KeepingPool:  # whose workers another one goes on with
        pools[0].close()
        pools.append(kind(rules, 1))
    try:
        assert run(pools[-1], "SELECT 1 AS a").table.to_pylist() == [{"a": 1}]
    finally:
        pools[-1].close()


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_worker_ends_in_peace_when_the_service_leaves_its_words_unread(
    tmp_path: Path, is_asked: bool
) -> None:
    ours, theirs = children.pipe()
    process = children.start("freshet-query", work, theirs, WorkerRules(SMALL, tmp_path, 5))
    theirs.close()
    assert ours.poll(PATIENCE)
    if is_asked:
        ours.recv_bytes()
        ours.send(AskedQuery(query("SELECT 1 AS a"), TablePlaces(), anything))
        assert ours.poll(PATIENCE)
    ours.close()
    children.join(process)
    assert process.exitcode == 0


def fails_inside(type: str) -> bool:
    raise duckdb.InternalException("INTERNAL Error: Attempted to access index 1 within vector of size 0")


def has_failed(type: str) -> bool:
    raise duckdb.FatalException("FATAL Error: database has been invalidated because of a previous error")


@pytest.mark.parametrize("fault", [fails_inside, has_failed])
def test_a_fault_of_duckdb_is_an_error_of_its_own(
    make: Callable[..., WorkerPool], fault: Callable[[str], bool]
) -> None:
    pool, duck = make(), Duck()
    run(pool, "SELECT 1")
    (pid,) = pool.pids
    evaluators: list[QueryEvaluator] = [pool.evaluator(Caller()), duck]
    for evaluator in evaluators:
        with pytest.raises(ServiceError) as error:
            evaluator.run(query("SELECT 1"), {}, fault)
        assert (error.value.status, error.value.code, bool(error.value.hint)) == (422, "query_failed", True)
        assert "vector" not in error.value.message
    duck.close()
    assert pid not in pool.pids, "a worker whose database is invalid goes on"
    assert run(pool, "SELECT 1 AS a").table.to_pylist() == [{"a": 1}]


def test_a_worker_goes_on_when_the_directory_in_which_it_began_is_gone(
    make: Callable[..., WorkerPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    pool = make()
    with monkeypatch.context() as there:
        there.chdir(gone)
        pool.warm()
        run(pool, "SELECT 1")
    gone.rmdir()
    other_database = AdhocQuery("SELECT 7 / 2 AS n", (), integer_division=True)
    assert pool.evaluator(Caller()).run(other_database, {}).table.to_pylist() == [{"n": 3}]


def test_a_killed_worker_is_replaced_at_once(make: Callable[..., WorkerPool]) -> None:
    pool, caller = make(), Caller()
    with ThreadPoolExecutor(1) as threads:
        lost = begun(threads, pool, ENDLESS, caller)
        (pid,) = pool.pids
        caller.leave()
        assert isinstance(lost.exception(PATIENCE), CallerGone)
    (other,) = pool.pids
    assert other != pid and is_alive(other) and not is_alive(pid)


def test_nothing_runs_for_a_caller_that_has_left(make: Callable[..., WorkerPool]) -> None:
    pool, caller = make(), Caller()
    caller.leave()
    with pytest.raises(CallerGone):
        run(pool, "SELECT 1", caller)
    assert pool.pids == []


def test_the_end_of_a_pool_ends_its_queries(make: Callable[..., WorkerPool]) -> None:
    pool = make(2)
    with ThreadPoolExecutor(1) as threads:
        lost = begun(threads, pool, ENDLESS)
        pids = pool.pids
        pool.close()
        assert isinstance(lost.exception(PATIENCE), ServiceError)
    assert not any(map(is_alive, pids))
    assert refused(pool, "SELECT 1") == "shutting_down"


def test_a_warm_pool_has_all_workers(make: Callable[..., WorkerPool]) -> None:
    pool = make(2)
    pool.warm()
    pids = pool.pids
    assert len(pids) == 2
    assert run(pool, "SELECT 1 AS a").table.num_rows == 1
    assert sorted(pool.pids) == sorted(pids)
