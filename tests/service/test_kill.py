"""kill -9 at random moments: acknowledged changes exist once; others exist in full or not at all.

Clients write, define and drop until the process is killed, and each records its responses. After the restart
the tables' changefeeds show what each epoch holds, and every view is compared with DuckDB's answer from
scratch. The catalog is in SQLite, and in PostgreSQL where its programs are. `FRESHET_KILLS` sets how often
each is killed.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import httpx
import pytest

from tests.postgres.server import programs, running
from tests.seeds import SEED
from tests.service.client import Process
from tests.service.guarantee import check, define
from tests.service.mixed_load import Definer, DeltaWriter, SqlWriter
from tests.service.waiting import wait_until

KILLS = int(os.environ.get("FRESHET_KILLS", "2"))
WRITERS = (DeltaWriter, DeltaWriter, DeltaWriter, SqlWriter)
SETTINGS = {"FRESHET_CHECKPOINT_COMMITS": "20", "FRESHET_CHECKPOINT_BYTES": "20000"}


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Iterator[Mapping[str, str]]:
    """The settings of a catalog's database."""
    if request.param == "sqlite":
        yield {}
        return
    where = programs()
    if where is None:
        pytest.skip("initdb is not installed; on Debian it is in the package postgresql")
    with running(where) as server:
        with server.connect() as connection:
            connection.execute("CREATE DATABASE catalog")
        yield {"FRESHET_DATABASE_URL": server.url("catalog")}


def test_kills(start: Callable[..., Process], database: Mapping[str, str]) -> None:
    chance = random.Random(SEED)
    writers = [kind(i, len(WRITERS), random.Random(chance.random())) for i, kind in enumerate(WRITERS)]
    definer = Definer(random.Random(chance.random()))
    for kill in range(KILLS + 1):
        service = start(**SETTINGS, **database)
        service.wait_ready()
        with httpx.Client(base_url=service.url, timeout=60) as http:
            if kill == 0:
                define(http)
            check(http, writers, definer, chance)
        if kill == KILLS:
            break
        clients = [threading.Thread(target=c.work, args=(service.url,)) for c in (*writers, definer)]
        for client in clients:
            client.start()
        time.sleep(chance.uniform(0.05, 1.5))
        if kill == KILLS - 1:
            wait_until(lambda: sum(len(w.applied) for w in writers) > len(WRITERS) and definer.requests > 4)
        service.kill()
        for client in clients:
            client.join(60)
            assert not client.is_alive()
