"""Types that have names."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "types",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("labels", sa.Text, nullable=False),
    )
