"""A forked start is a start: its environment, its files, its exit code and its children are its own."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import TimeoutExpired
from typing import BinaryIO

import pytest

from tests.forked.forked_process import ForkedProcess, can_fork
from tests.service.client import Process
from tests.service.waiting import wait_until

PROGRAM = "tests.forked.said"


@pytest.fixture
def output() -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as file:
        yield file


def said(file: BinaryIO) -> list[str]:
    file.seek(0)
    return file.read().decode().splitlines()


def started(output: BinaryIO, *arguments: str, **environment: str) -> ForkedProcess:
    return ForkedProcess(["-m", PROGRAM, *arguments], os.environ | environment, output.fileno())


def test_it_is_what_it_was_asked_to_be(
    output: BinaryIO, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o027)
    try:
        assert started(output, "a", "b c", FRESHET_SAID="x").wait(60) == 0
    finally:
        os.umask(before)
    shown = dict(line.split("=", 1) for line in said(output))
    assert shown["arguments"] == "['a', 'b c']"
    assert shown["FRESHET_SAID"] == "x"
    assert shown["directory"] == str(tmp_path)
    assert shown["umask"] == "0o27"
    assert shown["main"] == PROGRAM
    assert shown["collects"] == "True"
    assert shown["threads"] == "1"
    assert shown["files"] == "4"  # its own three, and the way to its server of children


def test_two_starts_hash_differently(output: BinaryIO) -> None:
    for _ in range(2):
        assert started(output).wait(60) == 0
    first, second = (line for line in said(output) if line.startswith("hash="))
    assert first != second


def test_starts_of_one_template_have_different_ids_of_requests(output: BinaryIO) -> None:
    for _ in range(4):
        assert started(output).wait(60) == 0
    assert len({line for line in said(output) if line.startswith("process=")}) == 4


@pytest.mark.parametrize("code", [0, 1, 75])
def test_exit_codes(output: BinaryIO, code: int) -> None:
    process = started(output, f"exit {code}")
    assert process.wait(60) == code
    assert process.poll() == code


def test_a_sentence_is_its_last_word(output: BinaryIO) -> None:
    assert started(output, "exit 'in the way'").wait(60) == 1
    assert said(output)[-1] == "in the way"


def test_an_exception_is_shown(output: BinaryIO) -> None:
    assert started(output, "fail").wait(60) == 1
    assert said(output)[-1] == "ZeroDivisionError: division by zero"


def test_many_wait_for_one_end(output: BinaryIO) -> None:
    process = started(output, "sleep")
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(process.wait, 60) for _ in range(8)]
        process.kill()
        assert {each.result() for each in waiting} == {-signal.SIGKILL}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGABRT, signal.SIGINT])
def test_signals_end_it(output: BinaryIO, number: signal.Signals) -> None:
    process = started(output, "sleep")
    wait_until(lambda: "sleeps" in said(output))
    assert process.poll() is None
    with pytest.raises(TimeoutExpired):
        process.wait(0.01)
    os.kill(process.pid, number)
    assert process.wait(60) == -number
    process.kill()  # it is nobody's by now


def test_the_fault_handler_speaks(output: BinaryIO) -> None:
    process = started(output, "sleep", PYTHONFAULTHANDLER="1")
    wait_until(lambda: "sleeps" in said(output))
    process.send_signal(signal.SIGABRT)
    assert process.wait(60) == -signal.SIGABRT
    assert any("most recent call first" in line for line in said(output))


def test_what_is_read_at_load_needs_a_fresh_start() -> None:
    same = dict(os.environ)
    assert can_fork(("-m", "service"), same)
    assert can_fork(("-m", "service"), same | {"FRESHET_PORT": "1", "PYTHONFAULTHANDLER": "1"})
    assert not can_fork(("-c", "pass"), same)
    assert not can_fork(("-m", "service"), same | {"PYTHONHASHSEED": "7"})
    assert not can_fork(("-m", "service"), same | {"NUMBA_CPU_NAME": "generic"})


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_children_of_a_service_are_below_it_and_end_with_it(tmp_path: Path) -> None:
    process = Process(tmp_path / "data", {})
    try:
        process.wait_ready()
        body = {"sql": "SELECT 1"}
        assert process.http.post("/v1/sql", json=body).status_code == 200
        below = _below(process.pid)
        assert len(below) >= 2  # the server of children, and a worker
        umasks = {Path(f"/proc/{pid}/status").read_text().partition("Umask:")[2].split()[0] for pid in below}
        assert umasks == {"0077"}
    finally:
        process.kill()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


def _below(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found |= {child, *_below(child)}
    return found
