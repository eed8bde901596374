"""Traces and metrics for OpenTelemetry: what is sent, where its parent is, and when nothing is loaded."""

from __future__ import annotations

import ast
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from service.exposition.otlp_switch import NOTHING, Otlp, otlp_of
from service.settings.settings import Settings
from tests.docs.markdown import ROOT
from tests.service.client import Client

pytest.importorskip("opentelemetry.sdk")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from service.exposition import otlp_metrics, otlp_traces
from service.exposition.otlp_metrics import MetricPush
from service.exposition.otlp_traces import RequestTraces, resource_of

POST = "POST /v1/tables/{table}/deltas"
PHASES = [
    "receive the body",
    "decode",
    "wait for the writer",
    "check",
    "step",
    "write the log",
    "publish",
    "acknowledge",
]
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory, spans: InMemorySpanExporter) -> Iterator[Client]:
    """A service whose spans are kept here, with two tables and a view of each."""
    traces = RequestTraces(resource_of({}), SimpleSpanProcessor(spans))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.app.otlp_of", lambda environment: Otlp(traces=traces))
        made = Client(Settings(data=tmp_path_factory.mktemp("traced")))
    with made as client:
        client.table("t", {"a": "BIGINT"}, key=["a"])
        client.table("u", {"a": "BIGINT"})
        client.view("v", "SELECT count(*) AS n FROM t")
        client.view("w", "SELECT a FROM u")
        yield client


def of_request(spans: InMemorySpanExporter) -> tuple[ReadableSpan, list[ReadableSpan]]:
    """The one request that was traced, and its phases in order."""
    found = spans.get_finished_spans()
    (root,) = [span for span in found if span.kind.name == "SERVER"]
    return root, [span for span in found if span is not root]


def test_a_post_has_a_span_for_each_phase(traced: Client, spans: InMemorySpanExporter) -> None:
    spans.clear()
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    epoch = traced.change("t", {"insert": {"a": 1}}, traceparent=parent, X_Request_Id="r-1")
    root, phases = of_request(spans)
    assert root.name == POST
    assert f"{root.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert root.parent is not None and f"{root.parent.span_id:016x}" == "b7ad6b7169203331"
    assert {
        "http.request.method": "POST",
        "http.route": "/v1/tables/{table}/deltas",
        "http.response.status_code": 200,
        "url.path": "/v1/tables/t/deltas",
        "freshet.request_id": "r-1",
        "freshet.epoch": epoch,
    } == dict(root.attributes or {})
    assert [span.name for span in phases] == PHASES
    assert all(span.parent == root.context for span in phases)
    assert phases[0].start_time == root.start_time
    assert phases[-1].end_time == root.end_time
    assert all(before.end_time == after.start_time for before, after in pairwise(phases))
    assert all((span.start_time or 0) <= (span.end_time or 0) for span in phases)
    assert dict(phases[4].attributes or {}) == {
        "freshet.epoch.first": epoch,
        "freshet.epoch.last": epoch,
        "freshet.changes": 1,
        "freshet.tables": ("t",),
        "freshet.views": ("v",),
        "freshet.views.count": 1,
    }


def test_a_post_that_is_refused_ends_with_its_code(traced: Client, spans: InMemorySpanExporter) -> None:
    traced.change("t", {"insert": {"a": 2}})
    spans.clear()
    assert traced.deltas("t", {"insert": {"a": 2}}).status_code == 409
    root, phases = of_request(spans)
    assert (root.attributes or {})["error.type"] == "key_exists"
    assert [span.name for span in phases] == [*PHASES[:2], PHASES[-1]]
    assert root.status.status_code.name == "UNSET", "a refusal is no failure of the service"


def test_statements_have_the_phases_of_the_writer(traced: Client, spans: InMemorySpanExporter) -> None:
    spans.clear()
    sql = "INSERT INTO u VALUES (7); INSERT INTO u VALUES (8)"
    assert traced.post("/v1/sql", {"sql": sql}).status_code == 200
    _, phases = of_request(spans)
    names = [span.name for span in phases]
    assert names.count("step") == names.count("publish") == 2
    assert all((span.attributes or {})["freshet.views"] == ("w",) for span in phases if span.name == "step")


def test_a_repetition_does_not_show_the_first_commit(traced: Client, spans: InMemorySpanExporter) -> None:
    """The answer of a request with a known Idempotency-Key has an epoch that was made before it came."""
    for repeated in (False, True):
        spans.clear()
        assert traced.deltas("u", {"insert": {"a": 9}}, Idempotency_Key="k").status_code == 200
        _, phases = of_request(spans)
        assert ("step" in [span.name for span in phases]) is not repeated


def test_what_watches_is_not_traced(traced: Client, spans: InMemorySpanExporter) -> None:
    spans.clear()
    for path in ("/healthz", "/readyz", "/metrics"):
        assert traced.get(path).status_code == 200
    assert not spans.get_finished_spans()
    assert traced.get("/v1/tables").status_code == 200
    root, phases = of_request(spans)
    assert root.name == "GET /v1/tables" and not phases


def test_a_caller_that_does_not_sample_is_followed(traced: Client, spans: InMemorySpanExporter) -> None:
    spans.clear()
    traced.change(
        "u", {"insert": {"a": 1}}, traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
    )
    assert not spans.get_finished_spans()
    for nonsense in ("", "00-0-0-00", "\x00", "x" * 500):
        traced.change("u", {"insert": {"a": 1}}, traceparent=nonsense)
    assert len([span for span in spans.get_finished_spans() if span.name == POST]) == 4


def test_metrics_are_those_of_a_scrape(traced: Client) -> None:
    registry = traced.app.state.registry
    families = [family for family in registry.collect() if family.name.startswith("freshet")]
    push = MetricPush(resource_of({}), Any, 60.0)  # type: ignore[arg-type]
    data = encode_metrics(push.data(families))
    (scope,) = data.resource_metrics[0].scope_metrics
    sent = {metric.name: metric for metric in scope.metrics}
    filled = {it.name + ("_total" if it.type == "counter" else "") for it in families if it.samples}
    assert sent.keys() == filled
    assert sent["freshet_epochs_total"].sum.is_monotonic
    assert sent["freshet_epochs_total"].sum.aggregation_temporality == 2
    for family in families:
        points = {
            tuple(sorted((it.key, it.value.string_value) for it in point.attributes)): point
            for metric in [sent.get(family.name)]
            if metric is not None
            for point in metric.histogram.data_points
        }
        for sample in family.samples:
            if family.type == "histogram" and sample.name.endswith("_bucket"):
                point = points[tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))]
                bound = float(sample.labels["le"])
                counts = zip([*point.explicit_bounds, float("inf")], point.bucket_counts, strict=True)
                assert sum(count for upper, count in counts if upper <= bound) == sample.value


@pytest.mark.parametrize(
    ("environment", "traces", "metrics"),
    [
        ({}, False, False),
        ({ENDPOINT: "http://x:1"}, True, True),
        ({ENDPOINT: ""}, False, False),
        ({ENDPOINT: "http://x:1", "OTEL_METRICS_EXPORTER": "none"}, True, False),
        ({ENDPOINT: "http://x:1", "OTEL_TRACES_EXPORTER": "none"}, False, True),
        ({ENDPOINT: "http://x:1", "OTEL_SDK_DISABLED": "true"}, False, False),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True, False),
        ({"OTEL_TRACES_EXPORTER": "console"}, False, False),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://x:1/v1/metrics"}, False, True),
        ({ENDPOINT: "http://x:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False, False),
    ],
)
def test_the_usual_variables_say_what_is_sent(
    environment: dict[str, str], traces: bool, metrics: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.exposition.otlp_switch.import_module", lambda name: FakeExporter)
    found = otlp_of(environment)
    assert (found.traces is not None, found.metrics is not None) == (traces, metrics)


class FakeExporter:
    @staticmethod
    def of_environment(environment: dict[str, str]) -> object:
        return object()


def test_without_the_packages_the_service_serves(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing(name: str) -> None:
        raise ImportError("No module named 'opentelemetry.sdk'")

    monkeypatch.setattr("service.exposition.otlp_switch.import_module", missing)
    with caplog.at_level(logging.WARNING):
        assert otlp_of({ENDPOINT: "http://x:1"}) is NOTHING
    assert "pip install 'freshet[telemetry]'" in caplog.text


def test_nothing_is_loaded_unless_it_is_wanted() -> None:
    """Two modules import OpenTelemetry, and no module imports those two but by the switch."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "service").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                found.setdefault(path.stem, set()).add(module or "")
    assert len(found) > 100
    needing = {
        name for name, modules in found.items() if any(it.startswith("opentelemetry") for it in modules)
    }
    assert needing == {"otlp_traces", "otlp_metrics"}
    ours = {"service.exposition.otlp_traces", "service.exposition.otlp_metrics"}
    assert {name for name, modules in found.items() if modules & ours} == {"otlp_metrics"}


class Collector(BaseHTTPRequestHandler):
    """Takes what is exported over OTLP."""

    received: dict[str, list[bytes]] = {}  # noqa: RUF012
    came = threading.Event()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.setdefault(self.path, []).append(body)
        self.send_response(200)
        self.end_headers()
        self.came.set()

    def log_message(self, *arguments: object) -> None: ...


def test_a_collector_gets_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over HTTP, at the latest when the service ends."""
    server = HTTPServer(("127.0.0.1", 0), Collector)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    for module in (otlp_traces, otlp_metrics):
        monkeypatch.setattr(module, "_PATIENCE", 60.0)
    try:
        with Client(Settings(data=tmp_path)) as client:
            client.table("t", {"a": "BIGINT"})
            client.insert("t", {"a": 1})
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
    received = Collector.received
    traces = [ExportTraceServiceRequest.FromString(body) for body in received["/v1/traces"]]
    names = [
        span.name
        for request in traces
        for part in request.resource_spans
        for scope in part.scope_spans
        for span in scope.spans
    ]
    assert set(PHASES) | {POST} <= set(names)
    metrics = ExportMetricsServiceRequest.FromString(received["/v1/metrics"][-1])
    attributes = {it.key: it.value.string_value for it in metrics.resource_metrics[0].resource.attributes}
    assert attributes["service.name"] == "mine"
