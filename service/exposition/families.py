"""Families of metrics made from values that are at hand, and the bound of how many series one has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

V = TypeVar("V")
Values = Mapping[tuple[str, ...], float]
"""Values by those of the labels."""
OTHER = "other"
"""The name and the kind of the series that stands for all that have none of their own."""


def gauge(name: str, meaning: str, value: float) -> Metric:
    """A current value."""
    return GaugeMetricFamily(name, meaning, value=value)


def gauges(name: str, meaning: str, labels: tuple[str, ...], values: Values) -> Metric:
    """Current values, by labels."""
    return _filled(GaugeMetricFamily(name, meaning, labels=labels), values)


def counters(name: str, meaning: str, labels: tuple[str, ...], values: Values) -> Metric:
    """Numbers that only grow, by labels."""
    return _filled(CounterMetricFamily(name, meaning, labels=labels), values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: Values) -> Metric:
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def bounded(items: Iterable[V], most: int, other: Callable[[list[V]], V]) -> list[V]:
    """The items, of which those after the first `most` become one."""
    items = list(items)
    return items if len(items) <= most else [*items[:most], other(items[most:])]
