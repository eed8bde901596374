"""Sources and sinks: their definitions and how far they have come."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("relation", number, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("last_batch", number, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("epoch", number, nullable=False),
        sa.Column("rows", number, nullable=False),
        sa.Column("skipped", number, nullable=False),
        sa.Column("failure", sa.Text),
    )
    op.create_table(
        "sinks",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("relation", number, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("done", number),
        sa.Column("writing", number),
        sa.Column("files", number, nullable=False),
        sa.Column("rows", number, nullable=False),
        sa.Column("failure", sa.Text),
    )
