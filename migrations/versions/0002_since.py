"""Segments say before which epoch their history is no longer told apart."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("segments", sa.Column("since", number, nullable=False, server_default="0"))
