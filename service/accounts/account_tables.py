"""The catalog's tables of accounts: keys, roles, and the audit log."""

from __future__ import annotations

import sqlalchemy as sa

from service.catalog.database import Number, metadata

keys = sa.Table(
    "keys",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("relations", sa.Text),
    sa.Column("salt", sa.LargeBinary, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("old_salt", sa.LargeBinary),
    sa.Column("old_digest", sa.LargeBinary),
    sa.Column("old_until", sa.BigInteger),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("used_at", sa.BigInteger),
    sa.Column("revoked_at", sa.BigInteger),
    sa.Column("scram", sa.Text),
    sa.Column("old_scram", sa.Text),
)
"""`relations` is a JSON list. The old secret is the one before the last rotation, valid until `old_until`.
`scram` and `old_scram` are what SCRAM compares with, NULL for keys that are older than it."""

roles = sa.Table(
    "roles",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("permissions", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)
"""`permissions` is a JSON list of pairs, a privilege and a pattern."""

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("number", Number, primary_key=True, autoincrement=True),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("key", sa.Text),
    sa.Column("name", sa.Text),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sqlite_autoincrement=True,
)
"""`key` and `name` are NULL if no key was needed. `outcome` is `done`, or the status of the refusal."""
