"""What the modules of the catalog database share: the metadata, and the type of their numbers."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()
Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A 64-bit integer. SQLite increments it by itself only as a key of type INTEGER."""
