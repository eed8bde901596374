"""The catalog database on SQLite, and its schema against the migrations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from engine.schema import BIGINT, TEXT, Column, Schema, array_of, enumeration, numeric
from engine.state.store.files import BatchFile, TextFile
from engine.state.store.manifest import Manifest
from service.catalog import catalog as module
from service.catalog.catalog import Catalog, CommittedEpochs, metadata
from service.catalog.manifests import Saved
from service.catalog.records import DefinitionRecord
from service.changes.table_changes import Applied, Idempotency
from service.definitions.named_types import types
from service.pipeline.catalog_tables import sinks, sources

SCHEMA = Schema(
    (
        Column("id", BIGINT, False),
        Column("price", numeric(10, 2)),
        Column("name", TEXT),
        Column("moods", array_of(enumeration("sad", "happy"))),
    )
)
TABLE = DefinitionRecord(0, "orders", SCHEMA, (0,), "", "", 4)
VIEW = DefinitionRecord(0, "v", None, None, "SELECT 1", "postgres", 5)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'freshet.db'}"


@pytest.fixture
def catalog(url: str) -> Iterator[Catalog]:
    catalog = Catalog(url)
    yield catalog
    catalog.close()


def test_migrations_make_what_the_tables_say(catalog: Catalog, url: str) -> None:
    assert {sources.name, sinks.name, types.name} <= metadata.tables.keys()
    database = sa.create_engine(url)
    with database.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    database.dispose()


def test_sqlite_is_durable(catalog: Catalog) -> None:
    with catalog.changing() as changing:
        pragma = changing.connection.exec_driver_sql
        assert pragma("PRAGMA journal_mode").scalar() == "wal"
        assert pragma("PRAGMA synchronous").scalar() == 2


def test_definitions_come_back(catalog: Catalog, url: str) -> None:
    with catalog.changing() as changing:
        first, second = changing.add(TABLE), changing.add(VIEW)
    again = Catalog(url)
    records = again.records()
    again.close()
    assert [record.id for record in records] == [first, second]
    assert records[0].schema == SCHEMA
    assert records[0].key == (0,)
    assert records[1].sql == "SELECT 1"
    assert records[1].schema is None


def test_a_change_that_raises_leaves_nothing(catalog: Catalog) -> None:
    with pytest.raises(RuntimeError), catalog.changing() as changing:
        changing.add(TABLE)
        raise RuntimeError
    assert catalog.records() == []


def test_ids_are_never_used_again(catalog: Catalog) -> None:
    with catalog.changing() as changing:
        first = changing.add(TABLE)
    with catalog.changing() as changing:
        changing.remove(first)
    with catalog.changing() as changing:
        assert changing.add(TABLE) > first


def test_log(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART", 4)
    catalog.append(CommittedEpochs(1, 2, 100), b"one to two")
    catalog.append(CommittedEpochs(3, 3, 100), b"3")
    catalog.append(CommittedEpochs(4, 4, 250), b"four")
    assert list(catalog.payloads()) == [b"one to two", b"3", b"four"]
    assert catalog.newest() == CommittedEpochs(4, 4, 250)
    assert [catalog.epoch_at(at) for at in (0, 99, 100, 249, 250, 999)] == [0, 0, 3, 3, 4, 4]


def test_keys_are_kept_with_their_commit(catalog: Catalog) -> None:
    idempotency, applied = Idempotency("k", b"digest"), Applied(1, 3)
    catalog.append(CommittedEpochs(1, 1, 100), b"1", [(idempotency, applied)])
    assert catalog.answered(["k", "other"]) == {"k": (b"digest", applied)}
    with pytest.raises(sa.exc.IntegrityError):
        catalog.append(CommittedEpochs(2, 2, 100), b"2", [(idempotency, applied)])
    assert catalog.newest() == CommittedEpochs(1, 1, 100)


def manifest(upper: int, **files: str) -> Manifest:
    """A manifest with files for each arrangement, one for each letter."""
    arrangements = {
        fingerprint: tuple(BatchFile(name, 3, 4, -1, 96, 2**32 - 1, 1, 2) for name in names)
        for fingerprint, names in files.items()
    }
    texts = tuple(TextFile(name, 2, 2**33, 5) for name in f"zy{upper}")
    return Manifest(upper, arrangements, dict.fromkeys(arrangements, upper - 1), texts)


def test_a_manifest_takes_the_place_of_the_last_one(catalog: Catalog, url: str) -> None:
    assert catalog.saved() is None
    for upper, files in ((2, {"f": "ab", "g": ""}), (3, {"f": "bc", "h": "d"}), (3, {}), (4, {"f": "b"})):
        saved = Saved(manifest(upper, **files), upper + 7)
        assert catalog.publish(saved, 0)
        again = Catalog(url)
        found = again.saved()
        again.close()
        assert found is not None
        assert found.newest_relation == upper + 7
        assert found.manifest.texts == saved.manifest.texts
        assert found.manifest.since == saved.manifest.since
        for fingerprint, batches in saved.manifest.arrangements.items():
            assert set(found.manifest.arrangements[fingerprint]) == set(batches)
        assert found.manifest.arrangements.keys() == saved.manifest.arrangements.keys()


def test_an_earlier_manifest_is_not_published(catalog: Catalog) -> None:
    catalog.append(CommittedEpochs(1, 1, 100), b"1")
    assert catalog.publish(Saved(manifest(5, f="a"), 1), 0)
    catalog.append(CommittedEpochs(5, 5, 500), b"5")
    assert not catalog.publish(Saved(manifest(4, f="b"), 1), 999)
    saved = catalog.saved()
    assert saved is not None
    assert saved.manifest.upper == 5
    assert list(catalog.payloads()) == [b"5"]


def test_a_manifest_replaces_the_log_and_old_keys_and_times(catalog: Catalog) -> None:
    for epoch in (1, 2, 3, 4):
        key = (Idempotency(f"k{epoch}", b""), Applied(epoch, 1))
        catalog.append(CommittedEpochs(epoch, epoch, epoch * 100), b"%d" % epoch, [key])
    catalog.publish(Saved(manifest(4), 1), 250)
    assert list(catalog.payloads()) == [b"4"]
    assert catalog.newest() == CommittedEpochs(4, 4, 400)
    assert set(catalog.answered(["k1", "k2", "k3", "k4"])) == {"k3", "k4"}
    assert [catalog.epoch_at(at) for at in (50, 150, 350, 450)] == [0, 1, 3, 4]
    catalog.publish(Saved(manifest(5), 1), 250, since=3)
    assert catalog.newest() == CommittedEpochs(4, 4, 400)
    assert list(catalog.payloads()) == []
    assert [catalog.epoch_at(at) for at in (150, 350, 450)] == [0, 3, 4]


def test_an_epoch_without_a_payload_is_in_its_manifest(catalog: Catalog) -> None:
    catalog.append(CommittedEpochs(1, 1, 100), b"1")
    idempotency, applied = Idempotency("k", b"digest"), Applied(2, 1_000_000)
    noted: list[Applied] = []
    catalog.publish(
        *(Saved(manifest(3, f="a"), 1), 0, 0, CommittedEpochs(2, 2, 200)),
        keys=[(idempotency, applied)],
        receipts=[(lambda connection, applied: noted.append(applied), applied)],
    )
    assert list(catalog.payloads()) == []
    assert catalog.newest() == CommittedEpochs(2, 2, 200)
    assert [catalog.epoch_at(at) for at in (100, 200)] == [1, 2]
    assert catalog.answered(["k"]) == {"k": (b"digest", applied)}
    assert noted == [applied]


def test_a_manifest_that_cannot_be_published_leaves_everything(catalog: Catalog) -> None:
    catalog.append(CommittedEpochs(1, 1, 100), b"1")

    def fail(connection: sa.Connection, applied: Applied) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        catalog.publish(
            *(Saved(manifest(3, f="a"), 1), 0, 0, CommittedEpochs(2, 2, 200)),
            receipts=[(fail, Applied(2, 1))],
        )
    assert catalog.saved() is None
    assert list(catalog.payloads()) == [b"1"]
    assert catalog.newest() == CommittedEpochs(1, 1, 100)
