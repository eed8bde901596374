"""Keys, roles, the audit log, loads, exports, sources and sinks through the client."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import freshet
from freshet import Connection
from freshet.async_connection import AsyncConnection, AsyncTable, AsyncView
from freshet.connection import Table, View
from tests.docs.markdown import ROOT
from tests.service.client import Process


def test_keys_and_what_they_did(start: Callable[..., Process]) -> None:
    service = start()
    service.wait_ready()
    with freshet.connect(service.url) as db:
        boss = db.make_key("boss", "admin")
        assert boss.key not in repr(boss)
    with freshet.connect(service.url, boss.key) as db:
        shop = db.make_key("shop", relations=["sales_*"])
        listed = db.keys()
        assert [(key.name, key.relations) for key in listed] == [("boss", None), ("shop", ["sales_*"])]
        assert db.rotate_key(shop.id).key != shop.key
        db.revoke_key(shop.id)
        listed = db.keys()
        assert [key.revoked is None for key in listed] == [True, False]
        assert {"read", "write", "admin"} <= {role.name for role in db.roles()}
        log = db.audit()
        assert [entry.name for entry in log] == [None, "boss", "boss", "boss"]
        assert db.audit(since=log[0].number, limit=1) == log[1:2]
    with freshet.connect(service.url, shop.key) as db, pytest.raises(freshet.UnauthorizedError):
        db.keys()

    async def counted() -> int:
        async with freshet.connect_async(service.url, boss.key) as db:
            return len(await db.keys())

    assert asyncio.run(counted()) == 2


def test_jobs_sources_and_sinks(db: Connection, name: str, tmp_path: Path) -> None:
    """Without Spark's help: requests reach their routes, and refusals come back."""
    assert (db.loads(), db.exports(), db.sources(), db.sinks()) == ([], [], [], [])
    db.table(name).create("id BIGINT")
    refusals: list[Callable[[], object]] = [
        lambda: db.begin_load(name, "csv", "/nowhere/x.csv", bad_rows="skip"),
        lambda: db.begin_export(db.table(name), "csv", "/nowhere/x"),
        lambda: db.create_source("s", name, "csv", "/nowhere", trigger_seconds=2),
        lambda: db.create_sink("s", name, "/nowhere"),
        lambda: db.load("none"),
        lambda: db.export("none"),
        lambda: db.cancel_load("none"),
        lambda: db.cancel_export("none"),
        lambda: db.source("none"),
        lambda: db.resume_source("none"),
        lambda: db.drop_source("none"),
        lambda: db.sink("none"),
        lambda: db.drop_sink("none"),
    ]
    for refused in refusals:
        with pytest.raises(freshet.Error) as raised:
            refused()
        assert raised.value.status in (400, 403, 404, 422), raised.value
        assert raised.value.code not in ("unknown_parameter", "invalid_request"), raised.value


@pytest.mark.parametrize(
    ("blocking", "waiting"), [(Connection, AsyncConnection), (Table, AsyncTable), (View, AsyncView)]
)
def test_both_connections_have_the_same_methods(blocking: type, waiting: type) -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {name: list(inspect.signature(f).parameters) for name, f in found if not name.startswith("_")}

    expected = methods(blocking)
    expected.pop("live", None)  # for notebooks alone
    assert methods(waiting) == expected


def test_the_package_is_light() -> None:
    program = "import sys, freshet; print([m for m in ('pyarrow', 'httpx', 'rich') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert shown.stdout == "[]\n", shown.stderr
    for name in freshet.__all__:
        assert getattr(freshet, name).__name__ == name
    assert set(freshet.__all__) <= set(dir(freshet))
    with pytest.raises(AttributeError, match="nonsense"):
        freshet.nonsense  # noqa: B018
