"""The socket that the service listens on, opened before anything else starts."""

from __future__ import annotations

import errno
import logging
import socket

from service.settings.postgres_settings import PORT
from service.settings.settings import Settings

_log = logging.getLogger("freshet.app")
BACKLOG = 2048
UNSENT = 1 << 16
"""Bytes of a connection that the system keeps for a client that does not read. Connections inherit it."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises ValueError with the reason if it cannot be opened."""
    return _listen(host, port, "FRESHET_PORT")


def listen_for_postgres(settings: Settings) -> socket.socket | None:
    """The socket for PostgreSQL's clients; None without one. Raises ValueError like `listen`, but not for the
    default port: another program may have that, and the service can do without."""
    if not settings.postgres_port:
        return None
    try:
        return _listen(settings.host, settings.postgres_port, "FRESHET_POSTGRES_PORT")
    except ValueError as error:
        if settings.postgres_port != PORT:
            raise
        _log.warning("PostgreSQL's clients cannot connect: %s", error)
        return None


def _listen(host: str, port: int, variable: str) -> socket.socket:
    if not 0 <= port < 1 << 16:  # getaddrinfo would take it modulo 65,536
        raise _cannot(host, port, variable, OverflowError("a port is at most 65535"))
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, OverflowError, UnicodeError) as error:
        raise _cannot(host, port, variable, error) from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
        listening.bind(address)
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        raise _cannot(host, port, variable, error) from None
    return listening


def _cannot(host: str, port: int, variable: str, error: Exception) -> ValueError:
    reason = getattr(error, "strerror", None) or str(error)
    hint = "; make stop ends the demo's service" if getattr(error, "errno", None) == errno.EADDRINUSE else ""
    place = f"{host}, port {port} (FRESHET_HOST, {variable})"
    return ValueError(f"it cannot listen on {place}: {reason.lower()}{hint}")
