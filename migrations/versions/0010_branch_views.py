"""Views that branches have of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "branch_views",
        sa.Column("id", number, primary_key=True, autoincrement=False),
        sa.Column("branch", number, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sql", sa.Text, nullable=False),
        sa.Column("dialect", sa.Text, nullable=False),
        sa.Column("created", number, nullable=False),
        sa.Column("details", sa.Text),
        sa.UniqueConstraint("branch", "name"),
    )
