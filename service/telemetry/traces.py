"""Whoever takes the journeys of requests that have ended."""

from __future__ import annotations

from typing import Protocol

from service.telemetry.exchange import Exchange
from service.telemetry.journey import Journey


class Traces(Protocol):
    def ended(self, exchange: Exchange, journey: Journey) -> None:
        """Takes the journey of an exchange that has ended. May not block or raise."""
