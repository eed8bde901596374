"""How far each dialect can be relied on: `proven` if it reaches the bar, else only `read`.

The bar: at least 200 expressions and 60 queries of the system's own manual, on every topic that
`tests/dialects/topics.py` requires, have the manual's answer, or somebody has decided that they differ or are
refused. `bars/` has what came of it, a file for each dialect that was asked; `python -m tests.dialects`
writes these files, and a test compares them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from sqlglot.dialects import Dialects

from planner.dialects.systems.flink_language import NAME

FOLDER = Path(__file__).with_name("bars")
PROVEN: Literal["proven"] = "proven"
READ: Literal["read"] = "read"


@dataclass(frozen=True)
class Standing:
    """What a dialect was asked, in expressions and queries, and how many of these are as the manual of its
    `system` says, differ by decision, or are refused."""

    dialect: str
    standing: Literal["proven", "read"] = READ
    system: str = ""
    expressions: int = 0
    queries: int = 0
    right: int = 0
    different: int = 0
    refused: int = 0

    @property
    def notice(self) -> str | None:
        """What the author of a view should know of its dialect."""
        if self.standing == PROVEN:
            return None
        return (
            f"the dialect {self.dialect} is read, but not proven: nobody has compared it with its system's "
            "manual, so check what the view means"
        )


@cache
def standings() -> Mapping[str, Standing]:
    """The standings of all dialects by name, in the order of the names."""
    names = sorted({NAME, *(dialect.value for dialect in Dialects if dialect.value)})
    return {name: _standing(name) for name in names}


def standing_of(dialect: str) -> Standing:
    """The standing of a dialect. One with settings (`mysql, normalization_strategy = lowercase`), which may
    change what a text means, is read."""
    return standings().get(dialect.lower()) or Standing(dialect)


def _standing(dialect: str) -> Standing:
    path = FOLDER / f"{dialect}.json"
    return Standing(dialect, **json.loads(path.read_text())) if path.exists() else Standing(dialect)
