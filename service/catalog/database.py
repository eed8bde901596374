"""What all tables of the catalog database share, whichever module they belong to."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()
Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A whole number of 64 bits, also as a key that SQLite counts up."""
