"""The word of NULL, which all modules share."""

from __future__ import annotations

NULL: int = -(2**63)
"""The word that stands for NULL in a column of any type."""
