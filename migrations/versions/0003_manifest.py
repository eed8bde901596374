"""A manifest of the state's files takes the place of checkpoint segments."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "manifest",
        sa.Column("upper", number, primary_key=True, autoincrement=False),
        sa.Column("newest_relation", number, nullable=False),
    )
    op.create_table(
        "arrangements",
        sa.Column("fingerprint", sa.Text, primary_key=True),
        sa.Column("since", number, nullable=False),
    )
    op.create_table(
        "batch_files",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("rows", number, nullable=False),
        sa.Column("columns", number, nullable=False),
        sa.Column("key", number, nullable=False),
        sa.Column("size", number, nullable=False),
        sa.Column("checksum", number, nullable=False),
        sa.Column("shard", number, nullable=False),
        sa.Column("shards", number, nullable=False),
    )
    op.create_table(
        "text_files",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("place", number, nullable=False),
        sa.Column("entries", number, nullable=False),
        sa.Column("size", number, nullable=False),
        sa.Column("checksum", number, nullable=False),
    )
    op.drop_table("segments")
