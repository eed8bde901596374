"""The demo over a handful of packages, on a service of its own process: told twice, and as it prints.

The second time, and where the start is not at stake, the service is forked.
"""

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from service.demo.background import Background, CannotStart, url
from service.demo.story import Demo, StepFailed
from tests.curl import parse
from tests.docs.markdown import commands
from tests.ports import free_port
from tests.service.client import Process

HOST = "127.0.0.1"
CALL = re.compile(r"^\$ (curl .*?)^# (\d+), [\d,]+ ms$", re.DOTALL | re.MULTILINE)
EDGES = [
    ("gimp", "libwebp7"),
    ("photos", "gimp"),
    ("libtiff6", "libwebp7"),
    ("firefox-esr", "libtiff6"),
    ("libc6", "libgcc-s1"),
    ("libgcc-s1", "libc6"),
]


@pytest.fixture
def port() -> int:
    return free_port(HOST)


@pytest.fixture
def background(tmp_path: Path) -> Iterator[Background]:
    background = Background(tmp_path / "run")
    yield background
    background.stop()


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A directory with the two files of data, of eight packages."""
    names = ["gimp", "libc6", "libgcc-s1", "libwebp7", "photos", "vim", "libtiff6", "firefox-esr"]
    packages = {
        "name": names,
        "version": ["1"] * 8,
        "section": ["graphics", "libs", "libs", "libs", "graphics", "editors", "libs", "web"],
        "size": [10, 20, 30, 40, 50, 60, 70, 80],
        "source": names,
    }
    depends = {
        "package": [edge[0] for edge in EDGES],
        "depends_on": [edge[1] for edge in EDGES],
        "kind": ["Depends"] * len(EDGES),
        "alt": pa.array([0] * len(EDGES), pa.int16()),
    }
    parquet.write_table(pa.table(packages), tmp_path / "packages.parquet")
    parquet.write_table(pa.table(depends), tmp_path / "depends.parquet")
    return tmp_path


@contextmanager
def forked(port: int, few: Path) -> Iterator[None]:
    process = Process(few / "data", {"FRESHET_PORT": str(port)})
    try:
        process.wait_ready()
        yield
    finally:
        process.kill()


def tell(port: int, few: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Tells the story; the answers as shown, each after a command that is a request and was accepted."""
    Demo(url(HOST, port), few).tell()
    answers = []
    for shown, status in CALL.findall(capsys.readouterr().out):
        command = next(commands(shown))
        assert parse(command, Path.cwd()).url.startswith(url(HOST, port))
        assert int(status) < 300
        answers.append(shown.removeprefix(command))
    return answers


def test_the_story_is_told_twice(
    background: Background, port: int, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pid = background.start(HOST, port, {**os.environ, "FRESHET_DATA": str(few / "data")})
    first = tell(port, few, capsys)
    assert background.stop() == pid
    assert background.pid is None
    with forked(port, few):
        second = tell(port, few, capsys)
    assert len(first) == len(second) + 5, "three tables and two files are there the second time"
    for answers in (first[5:], second):
        assert_it_is_the_story(answers)


def assert_it_is_the_story(answers: list[str]) -> None:
    affected, posted, read, counted, retracted, empty, before, changes = answers[:8]
    assert '"name": "affected"' in affected
    epoch = int(re.search(r"\d+", posted)[0])
    reached = set(re.findall(r'"package": "([\w-]+)"', read))
    assert reached == {"libwebp7", "gimp", "photos", "libtiff6", "firefox-esr"}
    assert "[5]" in counted
    assert f'"epoch": {epoch + 1}' in retracted
    assert '"rows": []' in empty
    assert f'"epoch": {epoch},' in before
    assert set(re.findall(r'"package": "([\w-]+)"', before)) == reached
    assert changes.count('"diff":-1') == 5
    why, branch, dropped, differs, spared, merged, moved, back = answers[14:22]
    assert "row of table depends (package = firefox-esr, depends_on = libtiff6" in why
    assert '"of": "main"' in branch and '"count": 1' in dropped
    assert '"section": "web"' in differs and '"diff": -1' in differs
    assert "[2]" in spared and '"changes": 1' in merged
    assert '"diff": -1' in moved
    assert '"count": 1' in back
    reinstall, distance, cycles = answers[12], answers[13], answers[-1]
    assert '{"section": "graphics", "packages": 2, "kib": 60}' in reinstall
    assert '{"package": "gimp", "hops": 1}' in distance
    assert set(re.findall(r'"package": "([\w-]+)"', cycles)) == {"libc6", "libgcc-s1"}


def test_a_port_in_use_is_said_so(background: Background) -> None:
    with socket.create_server((HOST, 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(CannotStart, match=rf"port {taken} .* in use .* FRESHET_PORT={taken + 1}"):
            background.start(HOST, taken, os.environ)


def test_a_service_that_ends_says_why(background: Background, port: int) -> None:
    with pytest.raises(CannotStart, match="FRESHET_BODY_LIMIT is 'much'"):
        background.start(HOST, port, {**os.environ, "FRESHET_BODY_LIMIT": "much"})
    assert background.pid is None


def test_another_program_with_the_pid_is_left_alone(background: Background) -> None:
    background.directory.mkdir()
    background.pid_file.write_text(f"{os.getppid()}\n")
    assert background.stop() is None


def test_a_refused_call_ends_the_story(port: int, few: Path) -> None:
    (few / "packages.parquet").write_bytes(b"no parquet")
    refused = pytest.raises(StepFailed, match=r"POST .*/v1/tables/packages/deltas was answered 4\d\d")
    with forked(port, few), refused:
        Demo(url(HOST, port), few).tell()
