"""Checkpoints of streams in backups: as a stream leaves them that is killed before its next batch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from service.backup.stream_checkpoints import copy_checkpoint
from service.pipeline.catalog_tables import sources
from service.pipeline.source import streams_of
from service.settings.settings import Settings
from tests.service.backups import back_up, restored
from tests.service.client import Client


def write_checkpoint(path: Path, begun: int, committed: int) -> None:
    """What Spark writes for batches 0 to `begun`, of which those up to `committed` are confirmed."""
    names = ["metadata", *(f"sources/0/{batch}" for batch in range(begun + 1))]
    names += [f"offsets/{batch}" for batch in range(begun + 1)]
    names += [f"commits/{batch}" for batch in range(committed + 1)]
    for name in names:
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
        file.with_name(f".{file.name}.crc").write_text("crc")


def names_in(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("last", [-1, 0, 2, 11])
def test_batches_after_the_last_one_are_left_out(tmp_path: Path, last: int) -> None:
    write_checkpoint(tmp_path / "stream", 11, 10)
    (tmp_path / "stream" / "offsets" / ".12.0a1b.tmp").write_text("half")
    copy_checkpoint(tmp_path / "stream", tmp_path / "copy", last)
    found = names_in(tmp_path / "copy")
    assert {f"offsets/{batch}" for batch in range(last + 1)} == {
        name for name in found if name.startswith("offsets/") and not name.endswith(".crc")
    }
    assert f"commits/{last + 1}" not in found and "commits/.11.crc" not in found
    assert {f"sources/0/{batch}" for batch in range(12)} | {"metadata"} <= found
    assert not any("tmp" in name for name in found)


def test_a_stream_that_has_not_begun_has_no_checkpoint(tmp_path: Path) -> None:
    copy_checkpoint(tmp_path / "stream", tmp_path / "copy", -1)
    assert not (tmp_path / "copy").exists()


def test_a_file_that_goes_meanwhile_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark compacts its log: the copy begins again."""
    write_checkpoint(tmp_path / "stream", 3, 3)
    compacted = tmp_path / "stream" / "sources" / "0" / "0"
    copytree = shutil.copytree

    def copy(source: Path, target: Path, **options: object) -> None:
        monkeypatch.undo()
        copytree(source, target)
        compacted.unlink()
        raise FileNotFoundError(compacted)

    monkeypatch.setattr(shutil, "copytree", copy)
    copy_checkpoint(tmp_path / "stream", tmp_path / "copy", 3)
    assert names_in(tmp_path / "copy") == names_in(tmp_path / "stream")


def test_a_restored_source_has_its_checkpoint(settings: Settings) -> None:
    """Its progress in the catalog and its checkpoint belong together."""
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        row = {"id": "0a", "name": "s", "relation": 1, "definition": "{}", "last_batch": 2, "files": "[]"}
        row |= {"epoch": 0, "rows": 0, "skipped": 0}
        with client.runtime.transaction() as connection:
            connection.execute(sources.insert().values(**row))
        write_checkpoint(streams_of(settings) / "0a", 4, 3)
        backup, _ = back_up(client, "backup")
    found = names_in(streams_of(restored(backup, settings, "copy")) / "0a")
    assert {"offsets/2", "commits/2", "sources/0/4", "metadata"} <= found
    assert not {"offsets/3", "commits/3"} & found
