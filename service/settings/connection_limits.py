"""The limits of connections, as `service/http/protocol.py` keeps them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ConnectionLimits:
    """Bytes of a head, seconds for it, seconds in which a body goes on and for all of it, connections."""

    head_bytes: int
    head_seconds: float
    pause_seconds: float
    body_seconds: float
    connections: int
