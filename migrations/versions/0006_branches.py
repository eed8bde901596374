"""Branches, the log of each, and what was merged of them."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "branches",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("parent", number, nullable=False),
        sa.Column("epoch", number, nullable=False),
        sa.Column("beginning", number, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("newest_relation", number, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "branch_log",
        sa.Column("branch", number, primary_key=True, autoincrement=False),
        sa.Column("last", number, primary_key=True, autoincrement=False),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("first", number, nullable=False),
        sa.Column("committed_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "branch_merges",
        sa.Column("branch", number, primary_key=True, autoincrement=False),
        sa.Column("into_epoch", number, primary_key=True, autoincrement=False),
        sa.Column("epoch", number, nullable=False),
    )
