"""Above the mark of memory nothing large begins; what is there goes on. The mark follows the cgroup."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from service.running.process_memory import LARGE, SHARE, MemoryMark, anonymous_bytes
from service.settings.allowed_memory import allowed_bytes
from service.settings.settings import Settings
from tests.service.client import Client, code

MIB = 1 << 20
MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class FakeMemory:
    """A reading of memory, and a clock that stands still until it is set."""

    def __init__(self, used: int) -> None:
        self.used = used
        self.now = 0.0
        self.looks = 0

    def read(self) -> int:
        self.looks += 1
        return self.used

    def clock(self) -> float:
        return self.now


@pytest.fixture
def memory() -> FakeMemory:
    return FakeMemory(50 * MIB)


@pytest.fixture
def client(tmp_path: Path, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    def mark(high: int) -> MemoryMark:
        return MemoryMark(high, memory.read, memory.clock)

    monkeypatch.setattr("service.app.MemoryMark", mark)
    with Client(Settings(data=tmp_path / "data", memory_high=100 * MIB)) as client:
        client.table("t", {"a": "BIGINT", "b": "TEXT"})
        client.view("v", "SELECT count(*) AS n FROM t")
        yield client


def use(memory: FakeMemory, used: int) -> None:
    memory.used = used
    memory.now += 1


def row(size: int) -> list[dict]:
    return [{"insert": {"a": 1, "b": "x" * size}}]


def test_above_the_mark_nothing_large_begins(client: Client, memory: FakeMemory) -> None:
    zipped = gzip.compress(os.urandom(40_000), 0)
    large = {
        "a view": lambda: client.post("/v1/views", {"name": "w", "sql": "SELECT a FROM t"}),
        "CREATE VIEW": lambda: client.post("/v1/sql", {"sql": "CREATE VIEW w AS SELECT a FROM t"}),
        "a load": lambda: client.post("/v1/loads", {"table": "t", "format": "csv", "path": "/nowhere.csv"}),
        "a body": lambda: client.post("/v1/tables/t/deltas", row(LARGE)),
        "a body that may grow": lambda: client.post(
            "/v1/tables/t/deltas",
            content=zipped,
            headers={"Content-Type": "application/json", "Content-Encoding": "gzip"},
        ),
    }
    use(memory, 101 * MIB)
    for name, send in large.items():
        answer = send()
        assert code(answer) == (503, "memory_high"), name
        assert answer.headers["Retry-After"] == "1"
        assert "FRESHET_MEMORY_HIGH" in answer.json()["hint"]
    assert client.rows("v") == [(0,)]
    use(memory, 100 * MIB)
    assert [answer.status_code for answer in (send() for send in large.values())] == [201, 409, 422, 200, 400]


def test_above_the_mark_the_rest_goes_on(client: Client, memory: FakeMemory) -> None:
    use(memory, 1 << 40)
    client.insert("t", {"a": 1, "b": "x"})
    assert client.rows("v") == [(1,)]
    body = gzip.compress(orjson.dumps(row(1)))
    zipped = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert client.post("/v1/tables/t/deltas", content=body, headers=zipped).status_code == 200
    assert client.post("/v1/sql", {"sql": "SELECT count(*) FROM t"}).json()["results"][0]["rows"] == [[2]]
    assert client.delete("/v1/views/v").status_code == 204


def test_the_status_tells(client: Client, memory: FakeMemory) -> None:
    told = client.get("/v1/status").json()
    assert (told["memory_high_bytes"], told["memory_high"]) == (100 * MIB, False)
    use(memory, 101 * MIB)
    assert client.get("/v1/status").json()["memory_high"] is True


def test_the_memory_is_read_once_a_second(memory: FakeMemory) -> None:
    mark = MemoryMark(100 * MIB, memory.read, memory.clock)
    for _ in range(1000):
        assert not mark.is_passed
    assert memory.looks == 1
    memory.used, memory.now = 101 * MIB, 0.99
    assert not mark.is_passed
    memory.now = 1.0
    assert mark.is_passed and memory.looks == 2


UNLIMITED = "9223372036854771712\n"
CGROUPS = {
    "version 2": ("0::/a/b\n", {"a/b/memory.max": "5000\n", "a/memory.max": "max\n"}, 5000),
    "around it": ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "4000\n"}, 4000),
    "the least": ("0::/a/b\n", {"a/b/memory.max": "5000\n", "a/memory.max": "4000\n"}, 4000),
    "a container's own": ("0::/\n", {"memory.max": "3000\n"}, 3000),
    "not seen from inside": ("0::/docker/x\n", {"memory.max": "3000\n"}, 3000),
    "version 1": (
        "5:cpu,cpuacct:/c\n4:memory:/m\n1:name=systemd:/s\n",
        {"memory/m/memory.limit_in_bytes": "2000\n", "memory/memory.limit_in_bytes": UNLIMITED},
        2000,
    ),
    "both versions": ("4:memory:/m\n0::/u\n", {"memory/m/memory.limit_in_bytes": "2000\n"}, 2000),
    "no limit": ("0::/\n", {"memory.max": "max\n"}, MACHINE),
    "no limit of version 1": ("4:memory:/\n", {"memory/memory.limit_in_bytes": UNLIMITED}, MACHINE),
    "nothing that can be read": ("0::/\n", {"memory.max": "?"}, MACHINE),
    "no cgroups": ("", {}, MACHINE),
}


@pytest.mark.parametrize(("cgroup", "files", "expected"), CGROUPS.values(), ids=CGROUPS)
def test_the_mark_follows_the_least_limit(
    tmp_path: Path, cgroup: str, files: dict[str, str], expected: int
) -> None:
    written = {"proc/self/cgroup": cgroup} | {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert allowed_bytes(tmp_path) == expected


def test_this_machine_has_a_mark() -> None:
    assert 0 < anonymous_bytes() < MACHINE
    assert 0 < MemoryMark(0).high <= SHARE * MACHINE
    assert allowed_bytes(Path("/nowhere")) == MACHINE
