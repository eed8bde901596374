"""The catalog's tables of sources and sinks: their definitions and their progress."""

from __future__ import annotations

import sqlalchemy as sa

from service.catalog.database import Number, metadata

sources = sa.Table(
    "sources",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("relation", Number, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("last_batch", Number, nullable=False),
    sa.Column("files", sa.Text, nullable=False),
    sa.Column("epoch", Number, nullable=False),
    sa.Column("rows", Number, nullable=False),
    sa.Column("skipped", Number, nullable=False),
    sa.Column("failure", sa.Text),
)
"""`definition` and `files` are JSON. `last_batch`, of `files`, was applied at `epoch`; -1 and 0 for none."""

sinks = sa.Table(
    "sinks",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("relation", Number, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("done", Number),
    sa.Column("writing", Number),
    sa.Column("files", Number, nullable=False),
    sa.Column("rows", Number, nullable=False),
    sa.Column("failure", sa.Text),
)
"""`definition` is JSON. Epochs up to `done` are in files; the file up to `writing` is being written."""
