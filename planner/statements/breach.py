"""Breaches: what becomes of an epoch that breaks an assertion."""

from __future__ import annotations

from enum import StrEnum


class Breach(StrEnum):
    """REFUSE: the epoch is refused, with rows that break the assertion. WARN: the epoch is made, and the
    assertion's view and its feed have the rows."""

    REFUSE = "refuse"
    WARN = "warn"
