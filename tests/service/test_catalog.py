"""The catalog database over SQLite, and its schema against the migrations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from engine.schema import BIGINT, TEXT, Column, Schema, numeric
from service import catalog as module
from service.catalog import Catalog, Commit, Record, Segment, metadata
from service.changes import Applied, Idempotency
from service.pipeline.tables import sinks, sources

SCHEMA = Schema((Column("id", BIGINT, False), Column("price", numeric(10, 2)), Column("name", TEXT)))
TABLE = Record(0, "orders", SCHEMA, (0,), "", "", 4)
VIEW = Record(0, "v", None, None, "SELECT 1", "postgres", 5)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'freshet.db'}"


@pytest.fixture
def catalog(url: str) -> Iterator[Catalog]:
    catalog = Catalog(url)
    yield catalog
    catalog.close()


def test_migrations_make_what_the_tables_say(catalog: Catalog, url: str) -> None:
    assert {sources.name, sinks.name} <= metadata.tables.keys()
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
    catalog.append(Commit(1, 2, 100), b"one to two")
    catalog.append(Commit(3, 3, 100), b"3")
    catalog.append(Commit(4, 4, 250), b"four")
    assert list(catalog.payloads()) == [b"one to two", b"3", b"four"]
    assert catalog.newest() == Commit(4, 4, 250)
    assert [catalog.epoch_at(at) for at in (0, 99, 100, 249, 250, 999)] == [0, 0, 3, 3, 4, 4]


def test_keys_are_kept_with_their_commit(catalog: Catalog) -> None:
    idempotency, applied = Idempotency("k", b"digest"), Applied(1, 3)
    catalog.append(Commit(1, 1, 100), b"1", [(idempotency, applied)])
    assert catalog.answered(["k", "other"]) == {"k": (b"digest", applied)}
    with pytest.raises(sa.exc.IntegrityError):
        catalog.append(Commit(2, 2, 100), b"2", [(idempotency, applied)])
    assert catalog.newest() == Commit(1, 1, 100)


def test_checkpoint_replaces_segments_log_and_old_keys(catalog: Catalog) -> None:
    for epoch in (1, 2, 3, 4):
        key = (Idempotency(f"k{epoch}", b""), Applied(epoch, 1))
        catalog.append(Commit(epoch, epoch, epoch * 100), b"%d" % epoch, [key])
    catalog.checkpoint(Segment(1, 1, "a", 10), 0)
    catalog.checkpoint(Segment(2, 2, "b", 10), 0)
    assert catalog.segments() == [Segment(1, 1, "a", 10), Segment(2, 2, "b", 10)]
    catalog.checkpoint(Segment(2, 3, "c", 20), 250)
    assert catalog.segments() == [Segment(1, 1, "a", 10), Segment(2, 3, "c", 20)]
    assert list(catalog.payloads()) == [b"4"]
    assert catalog.newest() == Commit(4, 4, 400)
    assert set(catalog.answered(["k1", "k2", "k3", "k4"])) == {"k3", "k4"}
    assert [catalog.epoch_at(at) for at in (50, 150, 350, 450)] == [0, 1, 3, 4]
    catalog.checkpoint(Segment(4, 4, "d", 5), 250)
    assert catalog.newest() == Commit(4, 4, 400)
    assert list(catalog.payloads()) == []
