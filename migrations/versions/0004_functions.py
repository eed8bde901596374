"""SQL functions and macros."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "functions",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("parameters", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", number, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
    )
