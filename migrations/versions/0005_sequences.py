"""Sequences."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "sequences",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("next", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
