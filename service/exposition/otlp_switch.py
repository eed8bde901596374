"""Whether traces and metrics go to a collector over OTLP: the usual variables of OpenTelemetry say it.

Its packages are an extra of the installation, and are loaded only if a variable asks for them. A service
that is asked for more than it has says so in its log, and serves.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from prometheus_client import CollectorRegistry

from service.telemetry.traces import Traces

_log = logging.getLogger("freshet.telemetry")
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
_HTTP = "http/protobuf"


class OtlpTraces(Traces, Protocol):
    def close(self) -> None:
        """Sends what is left, for a moment. Blocks."""


class OtlpMetrics(Protocol):
    def start(self, registry: CollectorRegistry) -> None:
        """Begins to send the registry's metrics, from time to time."""

    def close(self) -> None:
        """Sends them for the last time. Blocks for a moment."""


@dataclass(frozen=True)
class Otlp:
    """What is exported; None for what is not."""

    traces: OtlpTraces | None = None
    metrics: OtlpMetrics | None = None

    def close(self) -> None:
        for part in (self.traces, self.metrics):
            if part is not None:
                part.close()


NOTHING = Otlp()


def otlp_of(environment: Mapping[str, str]) -> Otlp:
    """The exports that the environment asks for."""
    wanted = {signal for signal in ("traces", "metrics") if _is_wanted(signal, environment)}
    if not wanted:
        return NOTHING
    try:
        return Otlp(
            import_module("service.exposition.otlp_traces").of_environment(environment)
            if "traces" in wanted
            else None,
            import_module("service.exposition.otlp_metrics").of_environment(environment)
            if "metrics" in wanted
            else None,
        )
    except ImportError as error:
        _log.warning(
            "%s are not exported, because OpenTelemetry's packages are missing (%s): "
            "pip install 'freshet[telemetry]'",
            " and ".join(sorted(wanted)),
            error,
        )
        return NOTHING


def _is_wanted(signal: str, environment: Mapping[str, str]) -> bool:
    """Whether a signal is exported: its exporter is otlp, or is not named and there is an endpoint."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    variable = f"OTEL_{signal.upper()}_EXPORTER"
    endpoints = (_ENDPOINT, f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
    has_endpoint = any(environment.get(name) for name in endpoints)
    exporter = environment.get(variable, "").strip() or ("otlp" if has_endpoint else "none")
    if exporter == "none":
        return False
    if exporter != "otlp":
        _log.warning("%s are not exported: %s is %s, and only otlp is known", signal, variable, exporter)
        return False
    protocol = environment.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL") or environment.get(_PROTOCOL)
    if protocol and protocol.strip() != _HTTP:
        _log.warning(
            "%s are not exported: %s is %s, and only %s is known; a collector takes it at port 4318",
            signal,
            _PROTOCOL,
            protocol,
            _HTTP,
        )
        return False
    return True
