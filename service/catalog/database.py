"""What the modules of the catalog database share: the metadata, and the type of their numbers."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()
Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A 64-bit integer. SQLite has it as INTEGER, the only type of key that it increments."""
