"""kill -9 of a service with a source while files arrive: every row of every file exists once.

Files of several rows arrive at random moments, also while no service runs. The service is killed at a random
moment after its source has started again: anywhere between Spark's decision on a batch and Spark's note that
the batch is done. `FRESHET_SOURCE_KILLS` sets the number of kills.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import orjson

from tests.seeds import SEED
from tests.service.client import Process
from tests.service.waiting import wait_until

KILLS = int(os.environ.get("FRESHET_SOURCE_KILLS", "1"))
ENVIRONMENT = {
    "FRESHET_CHECKPOINT_COMMITS": "5",
    "FRESHET_LOG_LEVEL": "warning",
    "FRESHET_SPARK_MASTER": "local[2,4]",
}
GROUPS = "SELECT file, count(*) AS n, sum(row) AS total FROM t GROUP BY file"


LEAD = 6
"""The most files that arrive before the batches of earlier ones are seen, because a start takes long."""


class Author(threading.Thread):
    """Puts files into the directory until it is told to stop. Knows the number of rows of each."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        super().__init__()
        self.rows: dict[int, int] = {}
        self.batches = 0
        self.ended = threading.Event()
        self._directory = directory
        self._chance = chance

    def run(self) -> None:
        while not self.ended.wait(self._chance.uniform(0, 0.4)):
            file, rows = len(self.rows), self._chance.randint(1, 5)
            if file >= self.batches + LEAD:
                continue
            aside = self._directory / f".{file}.writing"
            aside.write_bytes(
                b"".join(orjson.dumps({"file": file, "row": row}) + b"\n" for row in range(rows))
            )
            aside.rename(self._directory / f"{file}.json")
            self.rows[file] = rows


def define(http: httpx.Client) -> None:
    columns = [{"name": name, "type": "BIGINT"} for name in ("file", "row")]
    source = {
        "name": "s",
        "table": "t",
        "format": "json",
        "path": "in",
        "trigger_seconds": 0,
        "files_per_batch": 3,
    }
    for path, body in (
        ("tables", {"name": "t", "columns": columns}),
        ("views", {"name": "groups", "sql": GROUPS}),
        ("sources", source),
    ):
        assert http.post(f"/v1/{path}", json=body).status_code == 201


def rows(http: httpx.Client, path: str) -> Counter:
    answer = http.get(path, headers={"Accept": "application/x-ndjson"})
    assert answer.status_code == 200, answer.text
    return Counter(tuple(map(int, orjson.loads(line).values())) for line in answer.content.splitlines())


def check_whole(http: httpx.Client, known: dict[int, int]) -> int:
    """Checks that all or none of each file's rows exist, once. Returns the number of files that do."""
    found = rows(http, "/v1/tables/t/rows")
    files = {file for file, _ in found}
    assert found == Counter((file, row) for file in files for row in range(known[file]))
    return len(files)


def progress(http: httpx.Client) -> dict:
    found = http.get("/v1/sources/s").json()
    assert found["state"] != "failed", found["reason"]
    return found


def moment(data: Path) -> str:
    """The state in which the kill hit, according to the catalog and Spark's checkpoint."""
    with closing(sqlite3.connect(data / "freshet.db")) as database:
        ((id, applied),) = database.execute("SELECT id, last_batch FROM sources")
    checkpoint = data / "pipeline/sources" / id
    decided, noted = (
        max((int(path.name) for path in (checkpoint / log).glob("[0-9]*")), default=-1)
        for log in ("offsets", "commits")
    )
    assert noted <= applied <= decided
    if applied > noted:
        return "applied and not noted"
    return "decided and not applied" if decided > applied else "between two batches"


def test_kills(start: Callable[..., Process], tmp_path: Path) -> None:
    chance = random.Random(SEED)
    directory = tmp_path / "data" / "in"
    directory.mkdir(parents=True)
    author = Author(directory, random.Random(chance.random()))
    author.start()
    moments: Counter = Counter()
    began = 0
    try:
        for kill in range(KILLS + 1):
            service = start(**ENVIRONMENT)
            service.wait_ready()
            with httpx.Client(base_url=service.url, timeout=240) as http:
                if kill == 0:
                    define(http)
                batches = progress(http)["batches"]
                assert batches >= began
                author.batches = began = batches
                wait_until(lambda: progress(http)["state"] == "running")
                if kill == KILLS:
                    break
                if chance.random() < 0.7:
                    wait_until(lambda: progress(http)["batches"] > began)  # noqa: B023
                time.sleep(chance.uniform(0, 1.0))
            service.kill()
            found = moment(tmp_path / "data")
            moments[found] += 1
            print(f"kill {kill + 1}: {found}", flush=True)
    finally:
        author.ended.set()
        author.join()
    with httpx.Client(base_url=service.url, timeout=240) as http:
        wait_until(lambda: check_whole(http, author.rows) == len(author.rows))
        expected = Counter((file, n, sum(range(n))) for file, n in author.rows.items())
        assert rows(http, "/v1/views/groups/rows") == expected
        wait_until(lambda: progress(http)["rows"] == sum(author.rows.values()))
        print(f"{len(author.rows)} files in {progress(http)['batches']} batches; kills came upon {moments}")
    assert service.terminate() == 0
