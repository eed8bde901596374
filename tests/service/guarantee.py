"""The guarantee, held against what the clients of a load know after a service has ended under them.

Acknowledged changes exist once; others exist in full or not at all. The tables' changefeeds show what each
epoch holds, and every view is compared with DuckDB's answer from scratch. Keys and definitions are as they
were acknowledged, and the audit log has one line for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import duckdb

from freshet import AuditDescription, Connection
from tests.service.defining_load import VIEWS
from tests.service.load import Load
from tests.service.mixed_load import Effect, rows

TABLES = {"items": ("id", "writer", "value"), "edges": ("a", "b")}
PAGE = 1000
"""Lines of the audit log that are read at once."""


def define(db: Connection) -> None:
    for name, columns in TABLES.items():
        key = ["id"] if name == "items" else []
        db.table(name).create(dict.fromkeys(columns, "BIGINT"), key)
    for name, sql in VIEWS.items():
        db.create_view(name, sql)


def effects(db: Connection) -> dict[int, Effect]:
    """The effect of each epoch, from the tables' changefeeds."""
    found: dict[int, Effect] = {}
    for table in TABLES:
        for change in db.table(table).changes():
            found.setdefault(change.epoch, Counter())[table, *change.row.values()] += change.diff
    return found


def recorded(db: Connection) -> Counter[str]:
    """How often the audit log has each action that was done."""
    lines = list(_audit(db))
    numbers = [line.number for line in lines]
    assert numbers == sorted(set(numbers))
    return Counter(line.action for line in lines if line.outcome == "done")


def _audit(db: Connection) -> Iterator[AuditDescription]:
    since = 0
    while page := db.audit(since, PAGE):
        yield from page
        since = page[-1].number


def check(db: Connection, load: Load) -> None:
    """Checks the guarantee against what the clients know, and settles their open requests."""
    found = effects(db)
    newest = db.status()["epoch"]
    writers = load.writers
    known = {epoch: effect for writer in writers for epoch, effect in writer.applied.items()}
    assert sum(len(writer.applied) for writer in writers) == len(known), "two requests share an epoch"
    for epoch, effect in known.items():
        assert found.get(epoch, Counter()) == effect, f"epoch {epoch} is not what was acknowledged"
    unknown = {epoch: effect for epoch, effect in found.items() if epoch not in known}
    offered = [writer.open.effect for writer in writers if writer.open is not None]
    for effect in unknown.values():
        assert effect in offered, f"nobody asked for {effect}"
    assert len(unknown) <= len(offered), "a request was made twice"
    assert newest <= len(known) + len(offered)
    for writer in writers:
        writer.settle(unknown)
    assert effects(db) == {epoch: e for writer in writers for epoch, e in writer.applied.items() if e}
    check_definitions(db, load)
    for epoch in {newest, *load.chance.sample(range(newest + 1), min(5, newest + 1))}:
        check_views(db, epoch, VIEWS | load.definer.views)


def check_definitions(db: Connection, load: Load) -> None:
    """Compares relations, keys and the audit log with what was acknowledged."""
    views = {view.name for view in db.views()} - VIEWS.keys()
    load.definer.settle(views, {table.name for table in db.tables()} - TABLES.keys())
    load.keeper.settle(db.keys(), load.door)
    actions = recorded(db)
    load.definer.settle_actions(actions)
    load.keeper.settle_actions(actions)


def check_views(db: Connection, epoch: int, views: Mapping[str, str]) -> None:
    """Compares all views at an epoch with DuckDB's answers over the tables at that epoch."""
    with duckdb.connect() as duck:
        for table, columns in TABLES.items():
            duck.execute(f"CREATE TABLE {table} ({', '.join(f'{column} BIGINT' for column in columns)})")
            if content := rows(db.table(table), epoch):
                duck.execute(f"INSERT INTO {table} VALUES {', '.join(map(str, content))}")
        for name, sql in VIEWS.items():
            duck.execute(f"CREATE VIEW {name} AS {sql}")
        for name, sql in views.items():
            expected = sorted(
                tuple(0 if v is None else int(v) for v in row) for row in duck.sql(sql).fetchall()
            )
            assert rows(db.view(name), epoch) == expected, (name, epoch)
