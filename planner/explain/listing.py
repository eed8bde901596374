"""A plan as a list of steps, each after the steps that it reads; every format is made from this list
alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.schema import Column
from planner.spans import Span


@dataclass(frozen=True)
class ListingStep:
    """One operator: its name in the listing, its kind, its details (one line each), the steps that it reads,
    its columns, and the number of loops around it (`depth`).

    `figures` are the measurements of a running operator, by name. `spans` are the parts of the query's text
    that it comes from.
    """

    name: str
    operator: str
    details: tuple[str, ...]
    inputs: tuple[str, ...]
    columns: tuple[Column, ...]
    depth: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Listing:
    """The steps of one stage of a plan; `result` names the step with the result."""

    stage: str
    steps: tuple[ListingStep, ...]
    result: str
