"""Counters, gauges and histograms, and their text in Prometheus' exposition format.

The writer's thread and the event loop update metrics. An increment is not atomic across threads, so only
one thread writes a metric. A reader may see part of an update.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

Labels = tuple[tuple[str, str], ...]


class Counter:
    """A number that only grows, for each combination of labels."""

    kind = "counter"

    def __init__(self, name: str, meaning: str) -> None:
        self.name = name
        self.meaning = meaning
        self._values: dict[Labels, float] = {}

    def add(self, amount: float = 1, labels: Labels = ()) -> None:
        self._values[labels] = self._values.get(labels, 0) + amount

    def value(self, labels: Labels = ()) -> float:
        return self._values.get(labels, 0)

    def lines(self) -> Iterable[str]:
        for labels, value in sorted(self._values.items() or {(): 0.0}.items()):
            yield f"{self.name}{_labels(labels)} {_number(value)}"


class Gauge(Counter):
    """A current value for each combination of labels."""

    kind = "gauge"

    def set(self, values: Mapping[Labels, float] | float) -> None:
        """Replaces all values: a combination of labels that is missing here disappears."""
        self._values = dict(values) if isinstance(values, Mapping) else {(): values}

    def lines(self) -> Iterable[str]:
        return super().lines() if self._values else ()


class Histogram:
    """The number of observations up to each of `bounds`, and the sum of all observations."""

    kind = "histogram"

    def __init__(self, name: str, meaning: str, bounds: tuple[float, ...] = SECONDS) -> None:
        self.name = name
        self.meaning = meaning
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self) -> Iterable[str]:
        total = 0
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            total += count
            yield f'{self.name}_bucket{{le="{_number(bound)}"}} {total}'
        yield f"{self.name}_sum {_number(self._sum)}"
        yield f"{self.name}_count {total}"


@dataclass(frozen=True)
class Metrics:
    """Every metric of the service."""

    requests: Counter = field(
        default_factory=lambda: Counter("freshet_http_requests_total", "Requests answered, by status.")
    )
    epochs: Counter = field(default_factory=lambda: Counter("freshet_epochs_total", "Epochs committed."))
    changes: Counter = field(
        default_factory=lambda: Counter("freshet_changes_total", "Changes of tables applied.")
    )
    refused: Counter = field(
        default_factory=lambda: Counter("freshet_refused_total", "Requests that the writer refused, by code.")
    )
    log_bytes: Counter = field(
        default_factory=lambda: Counter("freshet_log_bytes_total", "Bytes appended to the log.")
    )
    checkpoints: Counter = field(
        default_factory=lambda: Counter("freshet_checkpoints_total", "Checkpoints written, by outcome.")
    )
    group: Histogram = field(
        default_factory=lambda: Histogram("freshet_group_requests", "Requests committed together.", SIZES)
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
    epoch: Gauge = field(default_factory=lambda: Gauge("freshet_epoch", "The newest epoch."))
    leads: Gauge = field(
        default_factory=lambda: Gauge("freshet_leads", "1 in a service that leads, 0 in a standby.")
    )
    lag: Gauge = field(
        default_factory=lambda: Gauge(
            "freshet_lag_epochs", "Epochs that a standby has still to follow; 0 in the leader."
        )
    )
    waiting: Gauge = field(default_factory=lambda: Gauge("freshet_waiting_requests", "Requests waiting."))
    tables: Gauge = field(default_factory=lambda: Gauge("freshet_tables", "Tables defined."))
    views: Gauge = field(default_factory=lambda: Gauge("freshet_views", "Views defined, by state."))
    rows: Gauge = field(
        default_factory=lambda: Gauge("freshet_rows", "Rows of each table and view at the newest epoch.")
    )
    memory: Gauge = field(
        default_factory=lambda: Gauge("freshet_resident_memory_bytes", "Resident memory of the process.")
    )
    held: Gauge = field(
        default_factory=lambda: Gauge("freshet_held_bytes", "What the service holds, by kind.")
    )

    jobs: Gauge = field(
        default_factory=lambda: Gauge("freshet_jobs", "Loads and exports kept, by kind and state.")
    )
    loaded_rows: Counter = field(
        default_factory=lambda: Counter("freshet_loaded_rows_total", "Rows that loads have added.")
    )
    advances: Gauge = field(
        default_factory=lambda: Gauge(
            "freshet_advances", "Passes of the engine, by where they were computed."
        )
    )
    spark: Gauge = field(
        default_factory=lambda: Gauge("freshet_spark_session", "1 for the current state of Spark's session.")
    )

    def text(self) -> str:
        """All metrics in the exposition format."""
        lines: list[str] = []
        for metric in vars(self).values():
            lines += (f"# HELP {metric.name} {metric.meaning}", f"# TYPE {metric.name} {metric.kind}")
            lines += metric.lines()
        return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)
