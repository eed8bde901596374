"""Backups as jobs: where they may be written, who may read them, and how they end early."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from service.backup import backup_writing
from service.settings.settings import Settings
from tests.service.backups import back_up, define
from tests.service.client import Client, code
from tests.service.jobs import ended


def test_the_paths_of_backups_are_limited_as_those_of_exports(settings: Settings, tmp_path: Path) -> None:
    with Client(settings) as client:
        for path in ("../out", "/etc/x", ".", "", "state/x", "freshet.db", "lock", "s3a://b/x"):
            assert code(client.post("/v1/backups", {"path": path})) == (422, "path_not_allowed"), path
        (settings.data / "there").mkdir()
        (settings.data / "there" / "file").write_text("mine")
        (settings.data / "file").write_text("mine")
        for path in ("there", "file"):
            assert code(client.post("/v1/backups", {"path": path})) == (409, "path_exists"), path
        assert code(client.get("/v1/backups/x")) == (404, "unknown_job")
        assert client.get("/v1/backups").json() == {"backups": []}
        backup, _ = back_up(client, "there/deep/one")
        for path in ("there/deep/one", "there/deep/one/two"):
            assert code(client.post("/v1/backups", {"path": path})) == (422, "path_not_allowed"), path
        assert backup.stat().st_mode & 0o077 == 0


def test_nobody_loads_from_a_backup(settings: Settings) -> None:
    """A backup has what the reader of a load may not see."""
    with Client(settings) as client:
        client.table("t", {"a": "TEXT"})
        back_up(client, "backup")
        (settings.data / ".hidden.new").mkdir()
        (settings.data / ".hidden.new" / "FRESHET_BACKUP").write_text("begun")
        (settings.data / ".hidden.new" / "x.csv").write_text("a\n1\n")
        for path in (
            "backup",
            "backup/manifest.json",
            "backup/*.json",
            "*/manifest.json",
            ".hidden.new/*.csv",
        ):
            answer = client.post("/v1/loads", {"table": "t", "format": "text", "path": path})
            job = (
                answer.json()
                if answer.status_code >= 400
                else ended(client, answer.headers["Location"])["error"]
            )
            assert job["code"] == "path_not_allowed", (path, job)


def test_a_cancelled_backup_leaves_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    dump = backup_writing.dump_table

    def slow(*arguments: object) -> None:
        begun.set()
        go_on.wait(240)
        dump(*arguments)

    monkeypatch.setattr(backup_writing, "dump_table", slow)
    with Client(settings) as client:
        define(client)
        path = client.post("/v1/backups", {"path": "backup"}).headers["Location"]
        begun.wait(240)
        client.insert("edges", {"a": 1, "b": 2})  # the writer does not wait
        assert client.delete(path).status_code == 202
        go_on.set()
        assert ended(client, path)["state"] == "cancelled"
        assert not [found.name for found in settings.data.iterdir() if "backup" in found.name]
        assert client.runtime.snapshot.upper == 2


def test_a_backup_that_cannot_be_written_says_why(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup_writing, "sync", full)
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        path = client.post("/v1/backups", {"path": "backup"}).headers["Location"]
        job = ended(client, path)
        assert (job["state"], job["error"]["code"]) == ("failed", "storage_failed")
        assert "No space" in job["error"]["detail"]
        assert not [found.name for found in settings.data.iterdir() if "backup" in found.name]
