"""A scan: rows for a table as Spark is to compute them, each judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ERROR = "_error"
"""The last column of a scan: what is wrong with the row, NULL for a good one."""


@dataclass(frozen=True, eq=False)
class Scan:
    """`frame` has the table's columns, in their types, and then `_error`. `skip_bad` leaves bad rows out;
    else one of them fails all."""

    frame: DataFrame
    skip_bad: bool
