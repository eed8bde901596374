"""All curves by name, each measured in a process of its own."""

from __future__ import annotations

from types import ModuleType

from bench.curves import change, cluster, compaction, cores, depth, epochs, state, times
from bench.curves.base import Curve

CURVES: dict[str, ModuleType] = {
    "change": change,
    "state": state,
    "epochs": epochs,
    "depth": depth,
    "compaction": compaction,
    "times": times,
    "cores": cores,
    "cluster": cluster,
}
"""Modules with a `measure` and its sizes `FULL` and `QUICK`."""


def measure(name: str, quick: bool) -> Curve:
    """The curve called `name`; in full size after a quick run, so that all code is loaded."""
    module = CURVES[name]
    small = module.measure(module.QUICK)
    return small if quick else module.measure(module.FULL)
