"""The catalog's tables of sources and sinks: their definitions and their progress."""

from __future__ import annotations

import sqlalchemy as sa

from service.catalog.catalog import metadata

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

sources = sa.Table(
    "sources",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("relation", _Number, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("last_batch", _Number, nullable=False),
    sa.Column("files", sa.Text, nullable=False),
    sa.Column("epoch", _Number, nullable=False),
    sa.Column("rows", _Number, nullable=False),
    sa.Column("skipped", _Number, nullable=False),
    sa.Column("failure", sa.Text),
)
"""`definition` and `files` are JSON. `last_batch`, of `files`, was applied at `epoch`; -1 and 0 for none."""

sinks = sa.Table(
    "sinks",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("relation", _Number, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("done", _Number),
    sa.Column("writing", _Number),
    sa.Column("files", _Number, nullable=False),
    sa.Column("rows", _Number, nullable=False),
    sa.Column("failure", sa.Text),
)
"""`definition` is JSON. Epochs up to `done` are in files; the file up to `writing` is being written."""
