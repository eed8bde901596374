"""`freshet backup` and `freshet restore`: with and without a service, and killed half-way (kill -9)."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from freshet.command.application import main
from service.backup.backup_manifest import read_backup
from service.backup.restore import restore_backup
from service.errors import Invalid, ServiceError
from service.metrics import Metrics
from service.process import backup_commands
from service.running.instance import UNFINISHED
from service.running.state import recover
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.backups import back_up
from tests.service.client import Client, Process
from tests.service.jobs import values
from tests.service.waiting import wait_until

NO_SPARK = {"FRESHET_SPARK": "never"}
KILLS = int(os.environ.get("FRESHET_KILLS", "1"))


@pytest.fixture
def filled(settings: Settings) -> list[str]:
    """A data directory without a service, and the rows of its view."""
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT", "b": "TEXT"})
        client.view("v", "SELECT b, sum(a) AS s FROM t GROUP BY b")
        client.insert("t", *({"a": number, "b": f"text {number}"} for number in range(5_000)))
        return values(client, "/v1/views/v/rows")


@pytest.fixture
def run(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> Callable[..., str]:
    """Runs a command over the data directory; returns the message with which it ends, "" if all went well."""
    monkeypatch.setenv("FRESHET_DATA", str(settings.data))
    monkeypatch.setattr(backup_commands, "keep_private", lambda: None)

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as end:
            main(list(map(str, arguments)))
        shown = capfd.readouterr().err
        return "" if end.value.code in (None, 0) else f"{end.value.code} {shown}"

    return run


def test_backups_of_a_service_that_runs_and_of_one_that_does_not(
    run: Callable[..., str],
    start: Callable[..., Process],
    filled: list[str],
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first goes by the service, with a key; both hold the same."""
    assert run("backup", tmp_path / "stopped") == ""
    assert "exists already" in run("backup", tmp_path / "stopped")
    service = start(**NO_SPARK)
    service.wait_ready()
    monkeypatch.setenv("FRESHET_PORT", str(service.port))
    made = service.http.post("/v1/keys", json={"name": "boss", "role": "admin"})
    assert "the request has no key" in run("backup", settings.data / "running")
    monkeypatch.setenv("FRESHET_KEY", made.json()["key"])
    assert run("backup", settings.data / "running") == ""
    assert "is not under a directory" in run("backup", tmp_path / "out")
    assert run("check", "--url", service.url) == ""
    assert run("backup", tmp_path / "out", "--url", "http://127.0.0.1:1").startswith("3 ")
    assert "another process uses" in run("restore", tmp_path / "stopped")
    assert service.terminate() == 0
    backup = settings.data / "running"
    assert read_backup(backup).epoch == read_backup(tmp_path / "stopped").epoch == 1
    assert not [path for path in (backup, *backup.rglob("*")) if path.stat().st_mode & 0o077]
    assert "is not empty" in run("restore", backup)
    assert run("restore", backup, "--data", tmp_path / "copy") == ""
    monkeypatch.setenv("FRESHET_DATA", str(tmp_path / "nowhere"))
    assert "there is no data directory" in run("backup", tmp_path / "x")
    with Client(replace(settings, data=tmp_path / "copy")) as client:
        assert client.runtime.accounts.are_needed


def test_a_killed_restore_is_begun_again(filled: list[str], settings: Settings, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    with Client(settings) as client:
        backup, _ = back_up(client, "backup")
    for number in range(KILLS):
        copy = replace(settings, data=tmp_path / f"copy{number}")
        process = Process(copy.data, NO_SPARK, ("-m", "freshet", "restore", str(backup)))
        mark = copy.data / UNFINISHED
        wait_until(lambda mark=mark, process=process: mark.exists() or process.has_ended)
        time.sleep(chance.random() * 0.03)
        process.kill()
        if mark.exists():
            with pytest.raises(ServiceError, match="was not finished"):
                recover(copy, Metrics())
            restore_backup(backup, copy)
        with Client(copy) as client:
            assert values(client, "/v1/views/v/rows") == filled


def test_a_killed_backup_is_none(
    filled: list[str], start: Callable[..., Process], settings: Settings, tmp_path: Path
) -> None:
    """The service dies in the middle: what is left has no manifest, and goes at the next start."""
    chance = random.Random(SEED)
    for number in range(KILLS):
        service = start(**NO_SPARK)
        service.wait_ready()
        answer = service.http.post("/v1/backups", json={"path": f"backup{number}"})
        assert answer.status_code == 202, answer.text
        wait_until(lambda: bool(list(settings.data.glob("*backup*"))))
        time.sleep(chance.random() * 0.02)
        service.kill()
        for left in settings.data.glob(".backup*.new"):
            if not (left / "manifest.json").exists():  # else the kill came right before the last step
                with pytest.raises(Invalid, match="not finished"):
                    restore_backup(left, replace(settings, data=tmp_path / "copy"))
    with Client(settings) as client:
        assert values(client, "/v1/views/v/rows") == filled
        assert not list(settings.data.glob(".backup*"))
        jobs = client.get("/v1/backups").json()["backups"]
        assert len(jobs) == KILLS and {job["state"] for job in jobs} <= {"failed", "done"}
    for backup in settings.data.glob("backup*"):
        assert read_backup(backup).epoch == 1
