"""kill -9 at random moments: acknowledged changes exist once; others exist in full or not at all.

Clients write, define and make keys while the process is killed and started again. Some repeat the post that
was under way until it is answered; one gives up. The catalog is in SQLite, with TLS where openssl is, and in
PostgreSQL where its programs are. `FRESHET_KILLS` sets how often each is killed.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.seeds import SEED
from tests.service.client import Process
from tests.service.door import Door
from tests.service.guarantee import check, define
from tests.service.load import Load
from tests.service.test_tls import make
from tests.service.waiting import wait_until

KILLS = int(os.environ.get("FRESHET_KILLS", "1"))
SETTINGS = {"FRESHET_CHECKPOINT_COMMITS": "20", "FRESHET_CHECKPOINT_BYTES": "20000"}


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Mapping[str, str]:
    """The settings of a service: its catalog's database, and its certificate."""
    if request.param == "sqlite":
        return secured(tmp_path)
    return {"FRESHET_DATABASE_URL": request.getfixturevalue("shared_catalog")}


def secured(directory: Path) -> Mapping[str, str]:
    """The settings of a service with a certificate, if one can be made."""
    if shutil.which("openssl") is None:
        return {}
    certificate, key = make(directory, "served")
    return {"FRESHET_TLS_CERTIFICATE": certificate, "FRESHET_TLS_KEY": key}


def test_kills(start: Callable[..., Process], place: Mapping[str, str]) -> None:
    chance = random.Random(SEED)
    service = start(**SETTINGS, **place)
    service.wait_ready()
    door = Door.guarded([service.url], service.verify)
    again = {**SETTINGS, **place, "FRESHET_PORT": str(service.port)}
    load = Load(door)
    with door.connect() as db:
        define(db)
    for kill in range(KILLS):
        before = load.acknowledged
        load.begin()
        wait_until(load.is_working if kill == KILLS - 1 else lambda before=before: load.has_posted(before))
        time.sleep(chance.uniform(0, 1.5))
        service.kill()
        service = start(fresh=kill == KILLS - 1 and "FRESHET_DATABASE_URL" not in place, **again)
        service.wait_ready()
        load.end()
        with door.connect() as db:
            check(db, load)
        doubtful = (load.definer.doubtful + load.keeper.doubtful).total()
        print(f"{kill + 1} kills, {load.acknowledged} posts, {doubtful} actions in doubt", flush=True)
