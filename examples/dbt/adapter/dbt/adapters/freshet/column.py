"""Columns by Freshet's names of types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from dbt.adapters.base import Column

_NUMERIC = re.compile(r"NUMERIC\((\d+), ?(\d+)\)")


@dataclass
class FreshetColumn(Column):
    TYPE_LABELS: ClassVar[dict[str, str]] = {
        "STRING": "TEXT",
        "FLOAT": "DOUBLE PRECISION",
        "INTEGER": "INTEGER",
        "BIGINT": "BIGINT",
        "BOOLEAN": "BOOLEAN",
        "TIMESTAMP": "TIMESTAMP",
    }

    @classmethod
    def of(cls, name: str, type: str) -> FreshetColumn:
        """A column of a type as Freshet writes it."""
        numeric = _NUMERIC.fullmatch(type)
        if numeric:
            return cls(name, "NUMERIC", None, int(numeric[1]), int(numeric[2]))
        return cls(name, type)

    @property
    def data_type(self) -> str:
        return "TEXT" if self.is_string() else super().data_type
