"""W2: revenue by order for the customers of one segment, over a join of three tables.

A change replaces nine lines for every order. A line is replaced by a random one; an order keeps its number
and gets another customer, so that its lines may enter or leave the segment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.data import SEED, choose, random_words, replace
from bench.workloads.base import Deltas, Phase, View, integers

SCHEMAS = {
    "customers": integers("custkey", "segment"),
    "orders": integers("orderkey", "custkey"),
    "lines": integers("orderkey", "price", "discount"),
}
VIEWS: tuple[View, ...] = (
    View(
        "revenue",
        "SELECT o.orderkey, sum(l.price * (100 - l.discount)) AS revenue"
        " FROM customers c JOIN orders o ON o.custkey = c.custkey JOIN lines l ON l.orderkey = o.orderkey"
        " WHERE c.segment = 1 GROUP BY o.orderkey",
    ),
)
SEGMENTS = 5
PRICES = (100, 10_000_000)
DISCOUNTS = (0, 11)
ROWS_PER_ORDER_CHANGE = 10


@dataclass(frozen=True)
class Size:
    customers: int
    orders: int
    lines: int
    phases: tuple[Phase, ...]
    note: str = ""
    """What the title says of it besides."""


class Revenue:
    schemas = SCHEMAS
    views = VIEWS

    def __init__(self, size: Size) -> None:
        self.title = f"W2 revenue, {size.lines:,} lines{size.note}"
        self.phases = size.phases
        self._rng = np.random.default_rng(SEED)
        self._size = size
        self._bounds = ((0, size.orders), PRICES, DISCOUNTS)
        self._replaced = 0
        customers = random_words(self._rng, ((0, 1), (0, SEGMENTS)), size.customers)
        customers[0] = np.arange(size.customers)
        orders = random_words(self._rng, ((0, 1), (0, size.customers)), size.orders)
        orders[0] = np.arange(size.orders)
        lines = random_words(self._rng, self._bounds, size.lines)
        self.tables = {"customers": customers, "orders": orders, "lines": lines}

    def change(self, batch: int, epoch: int) -> Deltas:
        before = self._replaced // ROWS_PER_ORDER_CHANGE
        self._replaced += batch
        orders = self._replaced // ROWS_PER_ORDER_CHANGE - before
        deltas = {}
        if orders:
            deltas["orders"] = self._move_orders(orders, epoch)
        if batch > orders:
            lines = self.tables["lines"]
            positions = choose(self._rng, lines.shape[1], batch - orders)
            new = random_words(self._rng, self._bounds, batch - orders)
            deltas["lines"] = replace(lines, positions, new, epoch)
        return deltas

    def _move_orders(self, count: int, epoch: int) -> np.ndarray:
        orders = self.tables["orders"]
        positions = choose(self._rng, orders.shape[1], count)
        new = np.stack((orders[0, positions], self._rng.integers(0, self._size.customers, count)))
        return replace(orders, positions, new, epoch)
