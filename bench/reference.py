"""Figures of other systems for the same work, as reported; this program measures none of them.

They are for differential dataflow's own implementation (Rust, one worker, the same data, a comparable
machine), and for Pathway. A batch of `LOAD` stands for the initial load. Units are seconds and bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

LOAD = 0
REFERENCE = "reference implementation"
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
    Figure(REFERENCE, "W1", LOAD, 0.9),
    Figure(REFERENCE, "W1", 1, 17e-6),
    Figure(REFERENCE, "W1", 1_000, 1.1e-3),
    Figure(REFERENCE, "W1", 100_000, 48e-3),
    Figure(REFERENCE, "W2", LOAD, 1.4),
    Figure(REFERENCE, "W2", 1, 20e-6),
    Figure(REFERENCE, "W2", 1_000, 1.1e-3),
    Figure(REFERENCE, "W2", 100_000, 53e-3),
    Figure(REFERENCE, "W3", LOAD, 0.9),
    Figure(REFERENCE, "W3", 1, 0.7e-3),
    Figure(REFERENCE, "W3", 100, 79e-3),
    Figure(REFERENCE, "W6", LOAD, 5.0),
    Figure(POST, "W6", LOAD, 6.5),
    Figure(PATHWAY, "W1", LOAD, 37.0),
    Figure(PATHWAY, "W1", 1, 0.22e-3),
    Figure(PATHWAY, "W1", 1_000, 14e-3),
    Figure(PATHWAY, "W1", 100_000, 1.4),
)
FOOTPRINTS = (
    Footprint(REFERENCE, "W1", 0.45e9),
    Footprint(REFERENCE, "W2", 0.6e9),
    Footprint(REFERENCE, "W6", 1.52e9),
    Footprint(POST, "W6", 0.62e9),
    Footprint(PATHWAY, "W1", 3.8e9),
)


def seconds(system: str, workload: str, batch: int) -> float | None:
    """The median of a round as `system` reports it; None if it reports none."""
    return next(
        (f.seconds for f in FIGURES if (f.system, f.workload, f.batch) == (system, workload, batch)), None
    )
