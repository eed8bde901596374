"""What a restore refuses: damaged backups, places that are not empty; and how a killed one begins again."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from service.backup import restore
from service.backup.backup_manifest import read_backup
from service.backup.restore import restore_backup
from service.errors import Conflict, Invalid, ServiceError
from service.metrics import Metrics
from service.running.instance import UNFINISHED
from service.running.state import recover
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.backups import back_up, change, define, restored, rows_of, wait_for_checkpoint
from tests.service.client import Client


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, Path]:
    """A service with a checkpoint and a log that has ended, and its backup."""
    settings = Settings(data=tmp_path_factory.mktemp("origin") / "data")
    with Client(replace(settings, checkpoint_commits=3)) as client:
        define(client)
        change(client, random.Random(SEED), 4)
        wait_for_checkpoint(client)
        return settings, back_up(client, "backup")[0]


@pytest.fixture
def settings(origin: tuple[Settings, Path]) -> Settings:
    """Those of the service that was backed up."""
    return origin[0]


@pytest.fixture
def backup(origin: tuple[Settings, Path], tmp_path: Path) -> Path:
    """A copy of the backup, for a test to damage."""
    return Path(shutil.copytree(origin[1], tmp_path / "backup"))


def test_every_damage_is_refused_by_name(settings: Settings, backup: Path, tmp_path: Path) -> None:
    """A bit flips in each file, and each file goes: the message names it, and nothing is written."""
    place = replace(settings, data=tmp_path / "copy")
    files = [backup / file.path for file in read_backup(backup).files]
    assert {path.parent.name for path in files} == {"catalog", "state"}
    for path in files:
        content = path.read_bytes()
        damaged = bytearray(content)
        damaged[random.Random(f"{SEED} {path}").randrange(len(content))] ^= 1
        path.unlink()  # the service's file is the same one
        for present in (bytes(damaged), content[:-1], None):
            if present is not None:
                path.write_bytes(present)
            else:
                path.unlink()
            with pytest.raises(Invalid, match=r"damaged|missing") as refused:
                restore_backup(backup, place)
            assert str(path) in refused.value.message
        path.write_bytes(content)
    assert not place.data.exists()
    restore_backup(backup, place)


def test_a_damaged_manifest_is_refused(settings: Settings, backup: Path, tmp_path: Path) -> None:
    """Bits flip anywhere in the manifest: it is refused, or says the same as before."""
    place = replace(settings, data=tmp_path / "copy")
    manifest = backup / "manifest.json"
    content, whole = manifest.read_bytes(), read_backup(backup)
    chance = random.Random(SEED)
    for _ in range(200):
        damaged = bytearray(content)
        damaged[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        manifest.write_bytes(bytes(damaged))
        try:
            assert read_backup(backup) == whole
        except Invalid as refused:
            assert "manifest.json" in refused.message
    for text in (b"", b"[]", b"null", b"{}", content[: len(content) // 2]):
        manifest.write_bytes(text)
        with pytest.raises(Invalid, match="damaged"):
            restore_backup(backup, place)
    document = orjson.loads(content)
    manifest.write_bytes(orjson.dumps(document | {"format": 2}))
    with pytest.raises(Invalid, match="has format 2"):
        restore_backup(backup, place)
    changed = replace(whole, revision="9999")
    changed.write(backup)
    with pytest.raises(Invalid, match="newer release"):
        restore_backup(backup, place)
    manifest.unlink()
    with pytest.raises(Invalid, match="not finished"):
        restore_backup(backup, place)


def test_paths_that_lead_out_of_a_backup_are_refused(settings: Settings, backup: Path) -> None:
    whole = read_backup(backup)
    for path in ("../x", "state/../../x", "/etc/passwd", "state/", "other/x", "state/a/../b", "state/x\n"):
        replace(whole, files=(replace(whole.files[0], path=path),)).write(backup)
        with pytest.raises(Invalid, match="damaged"):
            read_backup(backup)


def test_a_restore_replaces_nothing(settings: Settings, backup: Path, tmp_path: Path) -> None:
    """What is there stays as it is, byte for byte."""
    for number, name in enumerate(("notes.txt", "freshet.db-wal", "state/x.batch")):
        place = replace(settings, data=tmp_path / f"place{number}")
        path = place.data / name
        path.parent.mkdir(parents=True)
        path.write_text("mine")
        with pytest.raises(Conflict, match="is not empty"):
            restore_backup(backup, place)
        assert {found.name for found in place.data.rglob("*") if found.is_file()} == {path.name, "lock"}
        assert path.read_text() == "mine"
    elsewhere = replace(settings, data=tmp_path / "data2", database_url=settings.url)
    with pytest.raises(Conflict, match="has a catalog already"):
        restore_backup(backup, elsewhere)
    separate = tmp_path / "state of another"
    separate.mkdir()
    (separate / "x.batch").write_text("mine")
    with pytest.raises(Conflict, match="is not empty"):
        restore_backup(backup, replace(settings, data=tmp_path / "data3", state_directory=str(separate)))
    with Client(settings), pytest.raises(ServiceError, match="another process uses"):
        restore_backup(backup, settings)


def test_a_restore_that_stopped_keeps_services_away_and_begins_again(
    settings: Settings, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stops at every step in turn, as a kill would stop it."""
    whole = stored(restored(backup, settings, "whole"))
    for number, step in enumerate(("_clear", "_write_files", "_write_catalog", "sync", "give_after")):
        place = replace(settings, data=tmp_path / f"copy{number}")
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(f"service.backup.restore.{step}", _killed_after(step, patched))
            restore_backup(backup, place)
        if (place.data / UNFINISHED).exists():
            with pytest.raises(ServiceError, match="was not finished"):
                recover(place, Metrics())
            with pytest.raises(Conflict, match="another restore"):
                restore_backup(backup, replace(place, database_url=f"sqlite:///{tmp_path}/other.db"))
        restore_backup(backup, place)
        assert stored(place) == whole, step
    with Client(place) as client:
        assert client.get("/v1/status").json()["epoch"] == 8


def _killed_after(step: str, patched: pytest.MonkeyPatch) -> Callable[..., None]:
    """The step, and then a kill."""
    original = getattr(restore, step)

    def killed(*arguments: object) -> None:
        original(*arguments)
        raise KeyboardInterrupt

    return killed


def stored(settings: Settings) -> tuple[dict[str, list], dict[str, bytes]]:
    """All rows of the catalog, and all files of the state."""
    return rows_of(settings.url), {path.name: path.read_bytes() for path in settings.state.iterdir()}
