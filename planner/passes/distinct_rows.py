"""DISTINCT over rows that have a key goes.

distinct(scan k(id, p)), with the key id   →   scan k(id, p)
"""

from __future__ import annotations

from planner.ir import Distinct, Relational
from planner.ir.unique import unique_keys


def drop_distinct(operator: Relational) -> Relational:
    return operator.input if isinstance(operator, Distinct) and unique_keys(operator.input) else operator
