"""Ports for services that tests start."""

from __future__ import annotations

import random
import socket

_CHANCE = random.SystemRandom()


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nothing listens on, and no client is given meanwhile: those are from 32,768 on."""
    while True:
        port = _CHANCE.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
        return port
