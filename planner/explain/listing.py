"""A plan as a list of steps, each after those that it reads; the formats are made of this alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.schema import Column


@dataclass(frozen=True)
class ListingStep:
    """One operator: its name in the listing, what it is, what it says beyond that (one line each), the steps
    that it reads, its columns, and the loops that it lies in (`depth`).

    `figures` are what was measured of a running operator, by name.
    """

    name: str
    operator: str
    details: tuple[str, ...]
    inputs: tuple[str, ...]
    columns: tuple[Column, ...]
    depth: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Listing:
    """The steps of one stage of a plan; `result` names the one that is the answer."""

    stage: str
    steps: tuple[ListingStep, ...]
    result: str
