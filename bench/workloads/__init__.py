"""The workloads by name, in full size and in a size that a test can run."""

from __future__ import annotations

from functools import partial

from bench.workloads import degrees, reach, revenue
from bench.workloads.base import Phase, Workload

Made = partial[degrees.Degrees] | partial[revenue.Revenue] | partial[reach.Reach]

ONE = Phase(1, 1_000)
GRAPH_PHASES = (ONE, Phase(1_000, 100), Phase(100_000, 10))
SMOKE = (Phase(1, 20), Phase(10, 5))

FULL: dict[str, Made] = {
    "W1": partial(degrees.Degrees, degrees.Size(1_000_000, 5_000_000, GRAPH_PHASES)),
    "W1-tenth": partial(degrees.Degrees, degrees.Size(100_000, 500_000, (ONE,))),
    "W2": partial(revenue.Revenue, revenue.Size(150_000, 1_500_000, 6_000_000, GRAPH_PHASES)),
    "W3": partial(reach.Reach, reach.Size(100_000, 200_000, (ONE, Phase(100, 100)))),
}
QUICK: dict[str, Made] = {
    "W1": partial(degrees.Degrees, degrees.Size(1_000, 5_000, SMOKE)),
    "W1-tenth": partial(degrees.Degrees, degrees.Size(100, 500, SMOKE[:1])),
    "W2": partial(revenue.Revenue, revenue.Size(150, 1_500, 6_000, SMOKE)),
    "W3": partial(reach.Reach, reach.Size(1_000, 2_000, SMOKE)),
}


def build(name: str, quick: bool) -> Workload:
    """A new instance of the workload called `name`: a key of `FULL`."""
    return (QUICK if quick else FULL)[name]()
