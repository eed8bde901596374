"""Whoever takes the journeys of requests that have ended."""

from __future__ import annotations

from typing import Protocol

from service.telemetry.exchange import HttpExchange
from service.telemetry.journey import Journey


class Traces(Protocol):
    def ended(self, exchange: HttpExchange, journey: Journey) -> None:
        """Takes the journey of an exchange that has ended. May not block or raise."""
