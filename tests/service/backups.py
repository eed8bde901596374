"""Backups for tests: made by a running service, restored to another place, and compared row by row."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from service.backup.catalog_dump import TABLES, numbers_given
from service.backup.restore import restore_backup
from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.jobs import done, values
from tests.service.waiting import wait_until

MOST_EPOCHS = 4
"""Epochs before the last one at which rows are compared."""


def back_up(client: Client, name: str) -> tuple[Path, int]:
    """A new backup under the data directory, and the epoch that it holds."""
    job = done(client, "backups", path=name)
    return client.app.state.settings.data / name, job["epoch"]


def restored(backup: Path, settings: Settings, name: str, **options: object) -> Settings:
    """The settings of a service that was restored beside the one of `settings`."""
    place = replace(settings, data=settings.data.with_name(name), **options)
    restore_backup(backup, place)
    return place


def everything(client: Client, upto: int) -> dict[str, object]:
    """The rows of all relations at epochs up to one, all their changes, and all definitions."""
    found: dict[str, object] = {}
    for kind in ("tables", "views"):
        relations = client.get(f"/v1/{kind}").json()[kind]
        found[kind] = relations
        for name in (relation["name"] for relation in relations):
            for epoch in {*range(0, upto, max(1, upto // MOST_EPOCHS)), upto}:
                found[f"{name} at {epoch}"] = values(client, f"/v1/{kind}/{name}/rows", as_of=epoch)
            changes = client.get(f"/v1/{kind}/{name}/changes", since=0, until=upto)
            assert changes.status_code == 200, changes.text
            found[f"changes of {name}"] = changes.text
    return found


VIEWS = {
    "summary": "SELECT name, count(*) AS n, sum(id) AS total FROM t GROUP BY name",
    "top": "SELECT max(n) AS most FROM summary",
    "reach": "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM edges UNION SELECT r.a, e.b FROM r, edges e "
    "WHERE r.b = e.a) SELECT a, b FROM r",
}


def define(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
    client.table("edges", {"a": "BIGINT", "b": "BIGINT"})
    for name, sql in VIEWS.items():
        client.view(name, sql)


def change(client: Client, chance: random.Random, epochs: int) -> None:
    for _ in range(epochs):
        ids = chance.sample(range(60), 4)
        name = f"name {chance.randint(0, 9)}"
        client.change("t", *({"upsert": {"id": id, "name": name}} for id in ids))
        client.insert("edges", {"a": chance.randint(0, 9), "b": chance.randint(0, 9)})


def wait_for_checkpoint(client: Client) -> None:
    """Checkpoints are written beside the writer: a backup has files of the state once there was one."""
    done = 'freshet_checkpoints_total{outcome="done"}'
    wait_until(lambda: done in client.get("/metrics").text)


def rows_of(url: str) -> dict[str, list]:
    """All rows of a catalog, by table, and the numbers that its tables have given."""
    database = sa.create_engine(url)
    with database.connect() as connection:
        found = {
            name: sorted((tuple(row) for row in connection.execute(sa.select(table))), key=repr)
            for name, table in TABLES.items()
        }
        found["numbers"] = sorted(numbers_given(connection).items())
    database.dispose()
    return found
