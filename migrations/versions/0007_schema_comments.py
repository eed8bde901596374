"""Comments on schemas, by the schema's number; that of `public` is 0."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "schema_comments",
        sa.Column("schema", number, primary_key=True, autoincrement=False),
        sa.Column("comment", sa.Text, nullable=False),
    )
