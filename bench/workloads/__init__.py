"""The workloads by name, in full size and in a size that a test can run."""

from __future__ import annotations

from functools import partial

from bench.workloads import cycles, degrees, ids, reach, revenue, signatures, weather
from bench.workloads.base import Phase, Workload

Made = (
    partial[degrees.Degrees]
    | partial[revenue.Revenue]
    | partial[reach.Reach]
    | partial[cycles.Cycles]
    | partial[ids.Ids]
    | partial[signatures.Signatures]
    | partial[weather.Weather]
)

ONE = Phase(1, 1_000)
GRAPH_PHASES = (ONE, Phase(1_000, 100), Phase(100_000, 10))
LARGE_PHASES = GRAPH_PHASES[1:]
CORES = ", on all cores"
ON_ALL_CORES = frozenset({"W1-cores", "W2-cores"})
"""Workloads whose kernels run on all cores; those of others run on one."""
SMOKE = (Phase(1, 20), Phase(10, 5))
METHODS = signatures.Size(200_000, (ONE, Phase(1_000, 20)))
SMOKE_METHODS = signatures.Size(200, SMOKE)
HUB = cycles.Size(20_000, 100_000, 2_000, (ONE, Phase(1_000, 10)))
SMALL_HUB = cycles.Size(20_000, 100_000, 500, (ONE, Phase(1_000, 10)))
YEAR = weather.Size(8_760, 336_776, (ONE, Phase(1_000, 20)))
SMOKE_YEAR = weather.Size(24, 900, SMOKE)
SMOKE_HUB = cycles.Size(50, 300, 30, SMOKE)

FULL: dict[str, Made] = {
    "W1": partial(degrees.Degrees, degrees.Size(1_000_000, 5_000_000, GRAPH_PHASES)),
    "W1-cores": partial(degrees.Degrees, degrees.Size(1_000_000, 5_000_000, LARGE_PHASES, CORES)),
    "W1-tenth": partial(degrees.Degrees, degrees.Size(100_000, 500_000, (ONE,))),
    "W1-mixed": partial(
        degrees.Degrees,
        degrees.Size(1_000_000, 5_000_000, (Phase(1_000, 3_000, 1),), ", 1 row in every other round"),
    ),
    "W1-idle-100": partial(
        degrees.Degrees, degrees.Size(100_000, 500_000, (ONE,), ", 100 idle views beside it", 100)
    ),
    "W1-idle-1000": partial(
        degrees.Degrees, degrees.Size(100_000, 500_000, (ONE,), ", 1,000 idle views beside it", 1_000)
    ),
    "W2": partial(revenue.Revenue, revenue.Size(150_000, 1_500_000, 6_000_000, GRAPH_PHASES)),
    "W2-cores": partial(revenue.Revenue, revenue.Size(150_000, 1_500_000, 6_000_000, LARGE_PHASES, CORES)),
    "W3": partial(reach.Reach, reach.Size(100_000, 200_000, (ONE, Phase(100, 100)))),
    "W4": partial(cycles.Cycles, "W4", 3, HUB),
    "W4-binary": partial(cycles.Cycles, "W4", 3, HUB, binary=True),
    "W5": partial(cycles.Cycles, "W5", 4, SMALL_HUB),
    "W5-binary": partial(cycles.Cycles, "W5", 4, SMALL_HUB, binary=True),
    "W6": partial(ids.Ids, ids.Size(10_000_000, GRAPH_PHASES)),
    "W7": partial(signatures.Signatures, METHODS, by_rows=False),
    "W7-rows": partial(signatures.Signatures, METHODS, by_rows=True),
    "W8": partial(weather.Weather, YEAR, weather.NEAREST, "weather"),
    "W8-flights": partial(weather.Weather, YEAR, weather.NEAREST, "flights"),
    "W8-hour": partial(weather.Weather, YEAR, weather.HOUR, "flights"),
}
QUICK: dict[str, Made] = {
    "W1": partial(degrees.Degrees, degrees.Size(1_000, 5_000, SMOKE)),
    "W1-cores": partial(degrees.Degrees, degrees.Size(1_000, 5_000, SMOKE, CORES)),
    "W1-tenth": partial(degrees.Degrees, degrees.Size(100, 500, SMOKE[:1])),
    "W1-mixed": partial(degrees.Degrees, degrees.Size(1_000, 5_000, (Phase(10, 10, 1),), ", mixed")),
    "W1-idle-100": partial(degrees.Degrees, degrees.Size(100, 500, SMOKE[:1], ", 2 idle views", 2)),
    "W1-idle-1000": partial(degrees.Degrees, degrees.Size(100, 500, SMOKE[:1], ", 3 idle views", 3)),
    "W2": partial(revenue.Revenue, revenue.Size(150, 1_500, 6_000, SMOKE)),
    "W2-cores": partial(revenue.Revenue, revenue.Size(150, 1_500, 6_000, SMOKE, CORES)),
    "W3": partial(reach.Reach, reach.Size(1_000, 2_000, SMOKE)),
    "W4": partial(cycles.Cycles, "W4", 3, SMOKE_HUB),
    "W4-binary": partial(cycles.Cycles, "W4", 3, SMOKE_HUB, binary=True),
    "W5": partial(cycles.Cycles, "W5", 4, SMOKE_HUB),
    "W5-binary": partial(cycles.Cycles, "W5", 4, SMOKE_HUB, binary=True),
    "W6": partial(ids.Ids, ids.Size(10_000, SMOKE)),
    "W7": partial(signatures.Signatures, SMOKE_METHODS, by_rows=False),
    "W7-rows": partial(signatures.Signatures, SMOKE_METHODS, by_rows=True),
    "W8": partial(weather.Weather, SMOKE_YEAR, weather.NEAREST, "weather"),
    "W8-flights": partial(weather.Weather, SMOKE_YEAR, weather.NEAREST, "flights"),
    "W8-hour": partial(weather.Weather, SMOKE_YEAR, weather.HOUR, "flights"),
}


def build(name: str, quick: bool) -> Workload:
    """A new instance of the workload called `name`: a key of `FULL`."""
    return (QUICK if quick else FULL)[name]()
