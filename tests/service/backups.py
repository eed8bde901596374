"""Backups for tests: made by a running service, restored to another place, and compared row by row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from service.backup.restore import restore_backup
from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.jobs import done, values

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
