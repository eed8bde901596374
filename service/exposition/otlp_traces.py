"""Traces over OTLP: a span for each request, with one inside it for each phase of its journey.

Spans are made when a request has ended, from the moments that it has noted. So nothing of OpenTelemetry runs
while it is served. Their parent is the caller's span, if the request names one as W3C's Trace Context says.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.trace.status import Status, StatusCode

from service.problems import shown_path
from service.telemetry.exchange import HttpExchange
from service.telemetry.journey import Journey, Phase

SCOPE = "freshet"
_LAST_PHASE = "acknowledge"
_PATIENCE = 3.0
"""Seconds in which what is left must be sent when the service ends."""


def resource_of(environment: Mapping[str, str]) -> Resource:
    """What the service calls itself: `freshet`, unless the environment says something else."""
    attributes = {SERVICE_VERSION: version("freshet")}
    given = environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    if not environment.get("OTEL_SERVICE_NAME") and "service.name=" not in given:
        attributes[SERVICE_NAME] = "freshet"
    return Resource.create(attributes)


def of_environment(environment: Mapping[str, str]) -> RequestTraces:
    """Traces that go where the environment says."""
    return RequestTraces(resource_of(environment), BatchSpanProcessor(OTLPSpanExporter()))


class RequestTraces:
    """Makes spans of journeys, and passes them to the processor."""

    def __init__(self, resource: Resource, processor: SpanProcessor) -> None:
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer(SCOPE, version("freshet"))
        self._processor = processor
        self._ids = RandomIdGenerator()
        self._scope = InstrumentationScope(SCOPE, version("freshet"))
        self._propagator = TraceContextTextMapPropagator()

    def ended(self, exchange: HttpExchange, journey: Journey) -> None:
        ended = exchange.began + exchange.seconds
        root = self._tracer.start_span(
            f"{exchange.method} {exchange.route}",
            self._propagator.extract(journey.parent),
            SpanKind.SERVER,
            start_time=_nanoseconds(journey, journey.began),
        )
        if root.is_recording():
            root.set_attributes(_attributes(exchange, journey))
            if exchange.status >= 500:
                root.set_status(Status(StatusCode.ERROR))
            if journey.phases:
                journey.reached(_LAST_PHASE, ended)
            for phase in journey.phases:
                self._processor.on_end(self._inside(root.get_span_context(), journey, phase))
        root.end(_nanoseconds(journey, max(ended, journey.ended)))

    def _inside(self, root: SpanContext, journey: Journey, phase: Phase) -> ReadableSpan:
        """The span of a phase, made at once: a tracer's would cost as much as the post itself."""
        id = self._ids.generate_span_id()
        return ReadableSpan(
            phase.name,
            SpanContext(root.trace_id, id, False, root.trace_flags, root.trace_state),
            root,
            self._provider.resource,
            phase.attributes,
            instrumentation_scope=self._scope,
            start_time=_nanoseconds(journey, phase.began),
            end_time=_nanoseconds(journey, phase.ended),
        )

    def close(self) -> None:
        """Sends what is left, and waits a moment for it."""
        closing = threading.Thread(target=self._provider.shutdown, name="freshet-traces-end", daemon=True)
        closing.start()
        closing.join(_PATIENCE)


def _nanoseconds(journey: Journey, moment: float) -> int:
    """A moment of the journey in nanoseconds since 1970."""
    return int(moment * 1e9) + journey.offset


def _attributes(exchange: HttpExchange, journey: Journey) -> dict[str, str | int]:
    """The attributes of a request's span, by the names of OpenTelemetry's conventions where there are any."""
    found: dict[str, str | int] = {
        "http.request.method": exchange.method,
        "http.route": exchange.route,
        "http.response.status_code": exchange.status,
        "url.path": shown_path(exchange.path),
        "freshet.request_id": exchange.id,
    }
    if exchange.code:
        found["error.type"] = exchange.code
    if exchange.key:
        found["freshet.key"] = exchange.key
    if journey.epoch is not None:
        found["freshet.epoch"] = journey.epoch
    return found
