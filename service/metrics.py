"""Counters and histograms of what the service does, which a scrape turns into families of Prometheus.

The busy paths only add to plain numbers. An increment is not atomic across threads, so only one thread writes
a metric. A reader may see part of an update.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.utils import floatToGoString

from service.telemetry.journey import RecentCommits
from service.telemetry.late_rows import LateRows

SECONDS = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)
MINUTES = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Counter:
    """A number that only grows, for each combination of the labels' values."""

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self.name = name
        self.meaning = meaning
        self._labels = labels
        self._values: dict[tuple[str, ...], float] = {} if labels else {(): 0.0}

    def add(self, amount: float = 1, *values: str) -> None:
        self._values[values] = self._values.get(values, 0) + amount

    def value(self, *values: str) -> float:
        return self._values.get(values, 0)

    def family(self) -> CounterMetricFamily:
        found = CounterMetricFamily(self.name, self.meaning, labels=self._labels)
        for values, value in sorted(self._values.copy().items()):
            found.add_metric(values, value)
        return found


class Histogram:
    """The number of observations up to each of `bounds`, and the sum of all observations; for each
    combination of the labels' values."""

    def __init__(self, name: str, meaning: str, *labels: str, bounds: tuple[float, ...] = SECONDS) -> None:
        self.name = name
        self.meaning = meaning
        self._labels = labels
        self._bounds = bounds
        self._series: dict[tuple[str, ...], list[float]] = {}
        """By the values of labels: the counts between the bounds, and the sum last."""
        if not labels:
            self._begin(())

    def observe(self, value: float, *values: str) -> None:
        series = self._series.get(values) or self._begin(values)
        series[bisect_left(self._bounds, value)] += 1
        series[-1] += value

    def _begin(self, values: tuple[str, ...]) -> list[float]:
        series = self._series[values] = [0.0] * (len(self._bounds) + 2)
        return series

    def family(self) -> HistogramMetricFamily:
        found = HistogramMetricFamily(self.name, self.meaning, labels=self._labels)
        names = [floatToGoString(bound) for bound in (*self._bounds, float("inf"))]
        for values, series in sorted(self._series.copy().items()):
            *counts, total = tuple(series)
            up_to, buckets = 0.0, []
            for name, count in zip(names, counts, strict=True):
                up_to += count
                buckets.append((name, up_to))
            found.add_metric(values, buckets, total)
        return found


@dataclass(frozen=True)
class Metrics:
    """Everything that is counted where it happens. What is looked up instead, when somebody asks, is in
    `service/exposition`."""

    requests: Counter = field(
        default_factory=lambda: Counter(
            "freshet_http_requests_total",
            "Requests answered, by route, method and status.",
            "route",
            "method",
            "status",
        )
    )
    request_seconds: Histogram = field(
        default_factory=lambda: Histogram(
            "freshet_http_request_seconds",
            "Time from the head of a request to the start of its answer.",
            "route",
            "method",
        )
    )
    problems: Counter = field(
        default_factory=lambda: Counter(
            "freshet_problems_total", "Requests answered with an error, by the error's code.", "code"
        )
    )
    postgres_connections: Counter = field(
        default_factory=lambda: Counter(
            "freshet_postgres_connections_total", "Connections that PostgreSQL's clients have made."
        )
    )
    postgres_statements: Counter = field(
        default_factory=lambda: Counter(
            "freshet_postgres_statements_total",
            "Statements that PostgreSQL's clients have run, by the first word of their tag.",
            "tag",
        )
    )
    postgres_errors: Counter = field(
        default_factory=lambda: Counter(
            "freshet_postgres_errors_total", "Errors sent to PostgreSQL's clients, by code.", "code"
        )
    )
    epochs: Counter = field(default_factory=lambda: Counter("freshet_epochs_total", "Epochs committed."))
    changes: Counter = field(
        default_factory=lambda: Counter("freshet_changes_total", "Changes of tables applied.")
    )
    late: Counter = field(
        default_factory=lambda: Counter(
            "freshet_late_rows_total", "Rows left out because they came too late for their table's watermark."
        )
    )
    late_rows: LateRows = field(default_factory=LateRows)
    refused: Counter = field(
        default_factory=lambda: Counter(
            "freshet_refused_total", "Requests that the writer refused, by code.", "code"
        )
    )
    log_bytes: Counter = field(
        default_factory=lambda: Counter("freshet_log_bytes_total", "Bytes appended to the log.")
    )
    checkpoints: Counter = field(
        default_factory=lambda: Counter(
            "freshet_checkpoints_total", "Checkpoints written, by outcome.", "outcome"
        )
    )
    checkpoint_seconds: Histogram = field(
        default_factory=lambda: Histogram(
            "freshet_checkpoint_seconds", "Time to write a checkpoint, beside the writer.", bounds=MINUTES
        )
    )
    group: Histogram = field(
        default_factory=lambda: Histogram(
            "freshet_group_requests", "Requests committed together.", bounds=SIZES
        )
    )
    queue_seconds: Histogram = field(
        default_factory=lambda: Histogram(
            "freshet_queue_seconds", "Time that requests and jobs waited in the writer's queue."
        )
    )
    resolve_seconds: Histogram = field(
        default_factory=lambda: Histogram("freshet_resolve_seconds", "Time to check a group of requests.")
    )
    stage_seconds: Histogram = field(
        default_factory=lambda: Histogram(
            "freshet_stage_seconds", "Time to compute a group's effect on all views."
        )
    )
    commit_seconds: Histogram = field(
        default_factory=lambda: Histogram("freshet_commit_seconds", "Time to make a group durable.")
    )
    publish_seconds: Histogram = field(
        default_factory=lambda: Histogram("freshet_publish_seconds", "Time to make a group visible.")
    )
    loaded_rows: Counter = field(
        default_factory=lambda: Counter("freshet_loaded_rows_total", "Rows that loads have added.")
    )

    commits: RecentCommits | None = None
    """The writer's last commits, for traces; None if there are none."""

    def collect(self) -> Iterator[Metric]:
        """All of them as families, for a registry of Prometheus' client."""
        for metric in vars(self).values():
            if isinstance(metric, Counter | Histogram):
                yield metric.family()
