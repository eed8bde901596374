"""Figures of other systems for the same work, as their authors report them; nothing here measures them.

Units are seconds and bytes. A batch of `LOAD` stands for the initial load.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.workloads.base import LOAD

PATHWAY = "Pathway"
POST = "McSherry, String interning and beyond"


@dataclass(frozen=True)
class Figure:
    system: str
    workload: str
    batch: int
    seconds: float


@dataclass(frozen=True)
class Footprint:
    system: str
    workload: str
    bytes: float


FIGURES = (
    Figure(POST, "W6", LOAD, 6.5),
    Figure(PATHWAY, "W1", LOAD, 37.0),
    Figure(PATHWAY, "W1", 1, 0.22e-3),
    Figure(PATHWAY, "W1", 1_000, 14e-3),
    Figure(PATHWAY, "W1", 100_000, 1.4),
)
FOOTPRINTS = (
    Footprint(POST, "W6", 0.62e9),
    Footprint(PATHWAY, "W1", 3.8e9),
)
