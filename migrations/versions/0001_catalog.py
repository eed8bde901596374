"""The catalog: definitions, the log and past commits, the state's files, the pipeline, accounts, leaders."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    definitions()
    epochs()
    state()
    pipeline()
    accounts()
    leadership()


def definitions() -> None:
    op.create_table(
        "relations",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("columns", sa.Text),
        sa.Column("primary_key", sa.Text),
        sa.Column("sql", sa.Text, nullable=False),
        sa.Column("dialect", sa.Text, nullable=False),
        sa.Column("created", number, nullable=False),
        sa.Column("details", sa.Text),
        sa.Column("layout", number),
        sqlite_autoincrement=True,
    )
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
        "types",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("labels", sa.Text, nullable=False),
    )
    op.create_table(
        "counters",
        sa.Column("relation", number, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("next", number, nullable=False),
    )


def epochs() -> None:
    op.create_table(
        "commits",
        sa.Column("last", number, primary_key=True, autoincrement=False),
        sa.Column("first", number, nullable=False),
        sa.Column("committed_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_commits_committed_at", "commits", ["committed_at"])
    op.create_table(
        "log",
        sa.Column("last", number, primary_key=True, autoincrement=False),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("first", number, nullable=False),
        sa.Column("committed_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("epoch", number, nullable=False),
        sa.Column("changes", number, nullable=False),
        sa.Column("used_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_idempotency_keys_used_at", "idempotency_keys", ["used_at"])


def state() -> None:
    op.create_table(
        "manifest",
        sa.Column("upper", number, primary_key=True, autoincrement=False),
        sa.Column("newest_relation", number, nullable=False),
    )
    op.create_table(
        "arrangements",
        sa.Column("fingerprint", sa.Text, primary_key=True),
        sa.Column("since", number, nullable=False),
    )
    op.create_table(
        "batch_files",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("rows", number, nullable=False),
        sa.Column("columns", number, nullable=False),
        sa.Column("key", number, nullable=False),
        sa.Column("size", number, nullable=False),
        sa.Column("checksum", number, nullable=False),
        sa.Column("shard", number, nullable=False),
        sa.Column("shards", number, nullable=False),
    )
    op.create_table(
        "text_files",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("place", number, nullable=False),
        sa.Column("entries", number, nullable=False),
        sa.Column("size", number, nullable=False),
        sa.Column("checksum", number, nullable=False),
    )


def pipeline() -> None:
    op.create_table(
        "jobs",
        sa.Column("number", number, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("rows", number),
        sa.Column("skipped", number),
        sa.Column("epoch", number),
        sa.Column("error", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
        sqlite_autoincrement=True,
    )
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


def accounts() -> None:
    op.create_table(
        "keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("relations", sa.Text),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("old_salt", sa.LargeBinary),
        sa.Column("old_digest", sa.LargeBinary),
        sa.Column("old_until", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
    )
    op.create_table(
        "roles",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("permissions", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("number", number, primary_key=True, autoincrement=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("name", sa.Text),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )


def leadership() -> None:
    table = op.create_table(
        "leadership",
        sa.Column("token", number, primary_key=True, autoincrement=False),
        sa.Column("instance", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(table, [{"token": 0, "instance": "", "address": "", "since": 0}])
    table = op.create_table(
        "revisions",
        sa.Column("definitions", number, primary_key=True, autoincrement=False),
    )
    op.bulk_insert(table, [{"definitions": 0}])
