"""The catalog as it begins: definitions, the log and past commits, idempotency keys, segments."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "relations",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("columns", sa.Text),
        sa.Column("primary_key", sa.Text),
        sa.Column("sql", sa.Text, nullable=False),
        sa.Column("dialect", sa.Text, nullable=False),
        sa.Column("created", number, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "commits",
        sa.Column("last", number, primary_key=True, autoincrement=False),
        sa.Column("first", number, nullable=False),
        sa.Column("committed_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_commits_committed_at", "commits", ["committed_at"])
    op.create_table(
        "log",
        sa.Column("last", number, primary_key=True, autoincrement=False),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("first", number, nullable=False),
        sa.Column("committed_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("epoch", number, nullable=False),
        sa.Column("changes", number, nullable=False),
        sa.Column("used_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_idempotency_keys_used_at", "idempotency_keys", ["used_at"])
    op.create_table(
        "segments",
        sa.Column("last", number, primary_key=True, autoincrement=False),
        sa.Column("first", number, nullable=False),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
    )
