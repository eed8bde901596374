"""Limits of connections, which `service/http/protocol.py` enforces."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ConnectionLimits:
    """Bytes of a head and seconds for it; seconds for a body to progress and to end, and for a response to be
    read further; and connections."""

    head_bytes: int
    head_seconds: float
    pause_seconds: float
    body_seconds: float
    read_seconds: float
    connections: int
