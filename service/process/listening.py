"""The socket that the service listens on, opened before anything else starts."""

from __future__ import annotations

import socket

BACKLOG = 2048
UNSENT = 1 << 16
"""Bytes of a connection that the system keeps for a client that does not read. Connections inherit it."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises ValueError with the reason if it cannot be opened."""
    if not 0 <= port < 1 << 16:  # getaddrinfo would take it modulo 65,536
        raise _cannot(host, port, OverflowError("a port is at most 65535"))
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, OverflowError, UnicodeError) as error:
        raise _cannot(host, port, error) from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
        listening.bind(address)
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        raise _cannot(host, port, error) from None
    return listening


def _cannot(host: str, port: int, error: Exception) -> ValueError:
    reason = getattr(error, "strerror", None) or str(error)
    return ValueError(
        f"it cannot listen on {host}, port {port} (FRESHET_HOST, FRESHET_PORT): {reason.lower()}"
    )
