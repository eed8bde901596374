"""Relations have details, tables layouts from before they were altered, and columns counters."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("relations", sa.Column("details", sa.Text))
    op.add_column("relations", sa.Column("layout", number))
    op.create_table(
        "layouts",
        sa.Column("id", number, primary_key=True, autoincrement=False),
        sa.Column("relation", number, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("columns", sa.Text, nullable=False),
        sa.Column("primary_key", sa.Text),
        sa.Column("change", sa.Text, nullable=False),
    )
    op.create_table(
        "counters",
        sa.Column("relation", number, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("next", number, nullable=False),
    )
