"""What kernels and all others have to know of words."""

from __future__ import annotations

NULL: int = -(2**63)
"""The word that stands for NULL in a column of any type."""
