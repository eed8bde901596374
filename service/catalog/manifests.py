"""The manifest in the catalog: which files of the state directory make up the state, and as of which epoch.

There is one manifest. It changes in the same transaction as the log that it replaces. A file that it does
not name is garbage, unless the running engine holds it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

import sqlalchemy as sa

from engine.state.store.files import BatchFile, TextFile
from engine.state.store.manifest import Manifest
from service.catalog.database import Number, metadata

manifests = sa.Table(
    "manifest",
    metadata,
    sa.Column("upper", Number, primary_key=True, autoincrement=False),
    sa.Column("newest_relation", Number, nullable=False),
)
arrangements = sa.Table(
    "arrangements",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    sa.Column("since", Number, nullable=False),
)
batch_files = sa.Table(
    "batch_files",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.Text, nullable=False),
    *(sa.Column(name, Number, nullable=False) for name in ("rows", "columns", "key", "size", "checksum")),
    *(sa.Column(name, Number, nullable=False) for name in ("shard", "shards")),
)
text_files = sa.Table(
    "text_files",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("place", Number, nullable=False),
    *(sa.Column(name, Number, nullable=False) for name in ("entries", "size", "checksum")),
)


@dataclass(frozen=True)
class Saved:
    """A manifest, and the greatest relation id that existed when it was made.

    A relation with a greater id was made later; what the manifest has under its name belongs to another.
    """

    manifest: Manifest
    newest_relation: int

    def has(self, relation: int) -> bool:
        """Whether the relation with this id existed when the manifest was made."""
        return relation <= self.newest_relation


def read_manifest(connection: sa.Connection) -> Saved | None:
    """The manifest, if one was ever published."""
    head = connection.execute(sa.select(manifests)).first()
    if head is None:
        return None
    since = {row.fingerprint: row.since for row in connection.execute(sa.select(arrangements))}
    files: dict[str, list[BatchFile]] = {fingerprint: [] for fingerprint in since}
    for row in connection.execute(sa.select(batch_files)):
        files[row.fingerprint].append(BatchFile(*(getattr(row, it.name) for it in fields(BatchFile))))
    texts = connection.execute(sa.select(text_files).order_by(text_files.c.place))
    manifest = Manifest(
        head.upper,
        {fingerprint: tuple(of) for fingerprint, of in files.items()},
        since,
        tuple(TextFile(*(getattr(row, it.name) for it in fields(TextFile))) for row in texts),
    )
    return Saved(manifest, head.newest_relation)


def replace_manifest(connection: sa.Connection, saved: Saved) -> bool:
    """Stores the manifest. Returns False and changes nothing if the catalog has a later one."""
    upper = connection.execute(sa.select(manifests.c.upper)).scalar()
    manifest = saved.manifest
    if upper is not None and upper > manifest.upper:
        return False
    _change(connection, manifests, [{"upper": manifest.upper, "newest_relation": saved.newest_relation}])
    _change(connection, arrangements, [{"fingerprint": f, "since": s} for f, s in manifest.since.items()])
    of_batches = (
        {**asdict(file), "fingerprint": fingerprint}
        for fingerprint, files in manifest.arrangements.items()
        for file in files
    )
    _change(connection, batch_files, of_batches)
    of_texts = ({**asdict(file), "place": place} for place, file in enumerate(manifest.texts))
    _change(connection, text_files, of_texts)
    return True


def _change(connection: sa.Connection, table: sa.Table, wanted: Iterable[dict[str, object]]) -> None:
    """Makes the table hold exactly the wanted rows, by deleting and inserting the difference."""
    names = [column.name for column in table.columns]
    rows = {tuple(row[name] for name in names) for row in wanted}
    known = {tuple(row) for row in connection.execute(sa.select(table))}
    (key,) = table.primary_key.columns
    place = names.index(key.name)
    gone = [{"gone": row[place]} for row in known - rows]
    if gone:
        connection.execute(sa.delete(table).where(key == sa.bindparam("gone")), gone)
    if rows - known:
        connection.execute(sa.insert(table), [dict(zip(names, row, strict=True)) for row in rows - known])
