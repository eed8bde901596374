"""What SCRAM-SHA-256 compares with, of each key: NULL for the keys that there are."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("keys", sa.Column("scram", sa.Text))
    op.add_column("keys", sa.Column("old_scram", sa.Text))
