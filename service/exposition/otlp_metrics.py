"""Metrics over OTLP: what a scrape would show, sent to a collector every OTEL_METRIC_EXPORT_INTERVAL.

The same registry answers scrapes, so both have the same names and values. All sums count from the start of
the service.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    HistogramDataPoint,
    MetricExporter,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.export import Histogram as OtlpHistogram
from opentelemetry.sdk.metrics.export import Metric as OtlpMetric
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from service.exposition.otlp_traces import SCOPE, resource_of

_log = logging.getLogger("freshet.telemetry")
_INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"
_PATIENCE = 3.0
"""Seconds for the last export."""
_CUMULATIVE = AggregationTemporality.CUMULATIVE


def of_environment(environment: Mapping[str, str]) -> MetricPush:
    """Metrics that go where the environment says, as often as it says."""
    text = environment.get(_INTERVAL, "")
    milliseconds = int(text) if text.isdecimal() and int(text) else 60_000
    return MetricPush(resource_of(environment), OTLPMetricExporter(), milliseconds / 1000)


class MetricPush:
    """Sends the metrics of a registry every `interval` seconds, from a thread of its own."""

    def __init__(self, resource: Resource, exporter: MetricExporter, interval: float) -> None:
        self._resource = resource
        self._exporter = exporter
        self._interval = interval
        self._began = time.time_ns()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, registry: CollectorRegistry) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(registry,), name="freshet-metrics", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def _run(self, registry: CollectorRegistry) -> None:
        while not self._ending.wait(self._interval):
            self._send(registry)
        self._send(registry)
        self._exporter.shutdown()

    def _send(self, registry: CollectorRegistry) -> None:
        try:
            self._exporter.export(self.data(registry.collect()))
        except Exception:
            _log.exception("the metrics could not be exported")

    def data(self, families: Iterable[Metric]) -> MetricsData:
        """Families of Prometheus' client in the form of OTLP."""
        now = time.time_ns()
        metrics = [self._metric(family, now) for family in families if family.samples]
        scope = InstrumentationScope(SCOPE, version("freshet"))
        of_scope = ScopeMetrics(scope, metrics, "")
        return MetricsData([ResourceMetrics(self._resource, [of_scope], "")])

    def _metric(self, family: Metric, now: int) -> OtlpMetric:
        if family.type == "histogram":
            return OtlpMetric(family.name, family.documentation, "", self._histogram(family, now))
        points = [NumberDataPoint(it.labels, self._began, now, float(it.value)) for it in family.samples]
        if family.type == "counter":
            return OtlpMetric(
                f"{family.name}_total", family.documentation, "", Sum(points, _CUMULATIVE, True)
            )
        return OtlpMetric(family.name, family.documentation, "", Gauge(points))

    def _histogram(self, family: Metric, now: int) -> OtlpHistogram:
        buckets: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = defaultdict(list)
        sums: dict[tuple[tuple[str, str], ...], float] = {}
        for sample in family.samples:
            labels = tuple((name, value) for name, value in sample.labels.items() if name != "le")
            if sample.name.endswith("_bucket"):
                buckets[labels].append((float(sample.labels["le"]), sample.value))
            elif sample.name.endswith("_sum"):
                sums[labels] = sample.value
        points = [
            self._point(dict(labels), up_to, sums.get(labels, 0.0), now) for labels, up_to in buckets.items()
        ]
        return OtlpHistogram(points, _CUMULATIVE)

    def _point(
        self, labels: dict[str, str], up_to: list[tuple[float, float]], total: float, now: int
    ) -> HistogramDataPoint:
        """A histogram of which `up_to` has the counts up to each bound."""
        counts = [int(count) for _, count in up_to]
        between = [count - before for count, before in zip(counts, [0, *counts], strict=False)]
        bounds = [bound for bound, _ in up_to[:-1]]
        unknown: float = None  # type: ignore[assignment]  # OTLP does without the least and the greatest
        return HistogramDataPoint(
            labels, self._began, now, counts[-1], total, between, bounds, unknown, unknown
        )
