"""Backups that somebody else has written: every hash is right, and what they say is not."""

from __future__ import annotations

import hashlib
import random
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from service.backup.backup_manifest import NAME
from service.backup.restore import restore_backup
from service.errors import Invalid
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.backups import back_up
from tests.service.client import Client

Document = dict[str, Any]
Lie = Callable[[Document, Path], None]
FLIPS = 30


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = Settings(data=tmp_path_factory.mktemp("lying") / "data")
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        client.insert("t", {"a": 1})
        return back_up(client, "kept")[0]


def lie(backup: Path, tmp_path: Path, told: Lie) -> Path:
    """A copy of the backup after a lie, with a manifest whose hash fits."""
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(backup, copy)
    document = orjson.loads((copy / NAME).read_bytes())
    document.pop("sha256")
    told(document, copy)
    digest = hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).hexdigest()
    (copy / NAME).write_bytes(orjson.dumps(document | {"sha256": digest}))
    return copy


def refused(backup: Path, tmp_path: Path, told: Lie) -> str:
    """What a restore says of the lie."""
    with pytest.raises(Invalid) as found:
        restore_backup(lie(backup, tmp_path, told), Settings(data=tmp_path / "place"))
    assert found.value.code == "backup_damaged"
    return found.value.message


def says(**members: object) -> Lie:
    return lambda document, copy: document.update(members)


def says_of_a_file(**members: object) -> Lie:
    return lambda document, copy: document["files"][0].update(members)


def writes(path: str, content: bytes) -> Lie:
    """Writes a file, in place of one that is there, and enters it in the manifest."""

    def told(document: Document, copy: Path) -> None:
        (copy / path).parent.mkdir(exist_ok=True)
        (copy / path).write_bytes(content)
        others = [file for file in document["files"] if file["path"] != path]
        found = {"path": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        document["files"] = [*others, found]

    return told


def links(path: str, target: str, name: str) -> Lie:
    """Makes a link to what is elsewhere, and enters a file that is read through it."""

    def told(document: Document, copy: Path) -> None:
        (copy / path).symlink_to(target)
        content = (copy / name).read_bytes()
        found = {"path": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        document["files"].append(found)

    return told


def arrow(columns: dict[str, list]) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table(columns)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


LIES: dict[str, Lie] = {
    **{f"revision {r!r}": says(revision=r) for r in ("base", "head", "+1", "-1", "", "nope", 5, None)},
    **{f"epoch {e!r}": says(epoch=e) for e in ("x", -1, None, [], 1.5, True, 1 << 63)},
    **{f"numbers {n!r}": says(numbers=n) for n in ([], None, "x", {"log": "x"}, {"log": -1}, {"log": None})},
    **{f"files {f!r}": says(files=f) for f in (None, "ab", {"a": 1}, [1])},
    **{f"size {s!r}": says_of_a_file(size=s) for s in ("x", -1, None, 1.5)},
    **{f"path {p!r}": says_of_a_file(path=p) for p in (5, None, "state/" + "a/" * 2000 + "b")},
    "format": says(format=True),
    "twice": lambda document, copy: document["files"].append(document["files"][0]),
    "no tables": says(files=[]),
    "no keys": lambda document, copy: document.update(
        files=[file for file in document["files"] if file["path"] != "catalog/keys.arrow"]
    ),
    **{
        name: writes(f"catalog/{name}", arrow({"a": [1]}))
        for name in ("evil.arrow", "alembic_version.arrow", "sqlite_master.arrow", "leadership.arrow", "keys")
    },
    "below": writes("catalog/x/keys.arrow", arrow({"a": [1]})),
    "a link": links("state/link", "/etc/passwd", "state/link"),
    "a link to a directory": links("state/dir", "/etc", "state/dir/passwd"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_in_the_manifest_is_refused_before_anything_is_written(
    backup: Path, tmp_path: Path, name: str
) -> None:
    message = refused(backup, tmp_path, LIES[name])
    assert "copy" in message or "lacks" in message
    place = tmp_path / "place"
    assert name in ("no tables", "no keys") or not place.exists() or not any(place.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        arrow({"other": [1]}),
        arrow({"id": [None]}),
        arrow({"id": [[1]]}),
        arrow({"id": ["x"]}),
    ],
    ids=["empty", "garbage", "columns", "nulls", "lists", "texts"],
)
def test_a_table_with_other_rows_is_refused(backup: Path, tmp_path: Path, content: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "relations.arrow" in refused(backup, tmp_path, writes("catalog/relations.arrow", content))


def test_flipped_bits_are_refused_or_data(backup: Path, tmp_path: Path) -> None:
    """A bit of an Arrow stream may be one of a value; all others make a stream that is none."""
    chance = random.Random(f"{SEED} flips")
    whole = (backup / "catalog/relations.arrow").read_bytes()
    outcomes = set()
    for number in range(FLIPS):
        content = bytearray(whole)
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        copy = lie(backup, tmp_path, writes("catalog/relations.arrow", bytes(content)))
        try:
            restore_backup(copy, Settings(data=tmp_path / f"place{number}"))
            outcomes.add("restored")
        except Invalid as error:
            outcomes.add(error.code)
    assert "backup_damaged" in outcomes and outcomes <= {"restored", "backup_damaged"}
