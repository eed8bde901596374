"""W8: flights, each with the last weather at its airport, or with flights to its place in the hour before.

A change corrects readings of the weather, or delays of flights. Their numbers are those of New York in 2013:
three airports, a reading an hour, and 336,776 flights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.data import SEED, choose, random_words, replace
from bench.workloads.base import Deltas, Phase, View, integers

SCHEMAS = {
    "weather": integers("airport", "moment", "reading"),
    "flights": integers("id", "airport", "place", "moment", "delay"),
}
NEAREST = View(
    "nearest",
    "SELECT f.id, f.delay, w.moment, w.reading FROM flights AS f"
    " ASOF LEFT JOIN weather AS w ON f.airport = w.airport AND f.moment >= w.moment",
)
HOUR = View(
    "hour",
    "SELECT id, count(*) OVER hour AS flights, sum(delay) OVER hour AS delay FROM flights"
    " WINDOW hour AS (PARTITION BY place ORDER BY moment RANGE BETWEEN 60 PRECEDING AND CURRENT ROW)",
)
AIRPORTS, PLACES, MINUTES = 3, 105, 60
READINGS, DELAYS = (0, 1_000), (-30, 300)


@dataclass(frozen=True)
class Size:
    hours: int
    flights: int
    phases: tuple[Phase, ...]


class Weather:
    """`view` is NEAREST or HOUR; changes are of the table `corrected`."""

    def __init__(self, size: Size, view: View, corrected: str) -> None:
        self.title = f"W8 {view.name}, {size.flights:,} flights, {corrected} corrected"
        self.views: tuple[View, ...] = (view,)
        self.phases = size.phases
        self._rng = np.random.default_rng(SEED)
        self._corrected = corrected
        hours = np.arange(size.hours * AIRPORTS)
        readings = self._rng.integers(*READINGS, len(hours))
        weather = np.stack((hours % AIRPORTS, hours // AIRPORTS * MINUTES, readings))
        bounds = ((0, 1), (0, AIRPORTS), (0, PLACES), (0, size.hours * MINUTES), DELAYS)
        flights = random_words(self._rng, bounds, size.flights)
        flights[0] = np.arange(size.flights)
        every = {"weather": weather, "flights": flights}
        self.schemas = {name: SCHEMAS[name] for name in SCHEMAS if view is NEAREST or name == "flights"}
        self.tables = {name: every[name] for name in self.schemas}

    def change(self, batch: int, epoch: int) -> Deltas:
        table = self.tables[self._corrected]
        positions = choose(self._rng, table.shape[1], batch)
        new = table[:, positions]
        new[-1] = self._rng.integers(*(READINGS if self._corrected == "weather" else DELAYS), batch)
        return {self._corrected: replace(table, positions, new, epoch)}
