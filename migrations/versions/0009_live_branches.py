"""Branches that follow their parent, and which of their commits are the parent's."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("branches", sa.Column("live", sa.Integer, nullable=False, server_default="0"))
    op.add_column("branch_log", sa.Column("followed", number))
