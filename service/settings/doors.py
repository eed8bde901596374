"""Settings of the HTTP server: who may connect, how much a request may send, and how long it may take.

`service/settings/settings.py` reads them together with all others.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from service.settings.budget import Budget
from service.settings.connection_limits import ConnectionLimits

MIB = 1 << 20


def setting(default: Any, variable: str, meaning: str) -> Any:
    """A setting as a field of a dataclass, with the environment variable that it is read from."""
    return field(default=default, metadata={"variable": variable, "meaning": meaning})


@dataclass(frozen=True)
class Doors:
    hosts: str = setting(
        "",
        "FRESHET_HOSTS",
        "host names of the service besides those of the loopback, separated by commas; "
        "empty: no others on the loopback, any elsewhere",
    )
    origins: str = setting(
        "", "FRESHET_ORIGINS", "origins, separated by commas, whose pages may call the service from browsers"
    )

    open_to_anyone: str = setting(
        "no",
        "FRESHET_OPEN_TO_ANYONE",
        "yes: without any key the service may listen beyond the loopback, and anyone may do anything",
    )
    tls_certificate: str = setting(
        "",
        "FRESHET_TLS_CERTIFICATE",
        "file of the certificate in PEM, with its chain; SIGHUP reads it and the key again; empty: no TLS",
    )
    tls_key: str = setting("", "FRESHET_TLS_KEY", "file of the certificate's private key in PEM")
    body_limit: int = setting(
        256 * MIB, "FRESHET_BODY_LIMIT", "largest request body in bytes, counted after decompression"
    )
    body_rows: int = setting(5_000_000, "FRESHET_BODY_ROWS", "most rows in the body of one request")
    sql_limit: int = setting(
        8 * MIB,
        "FRESHET_SQL_LIMIT",
        "largest body in bytes of a request without rows: SQL, definitions, jobs",
    )
    memory_high: int = setting(
        0,
        "FRESHET_MEMORY_HIGH",
        "bytes of memory, besides mapped files, above which new views, loads and bodies of more than 1 MiB "
        "get 503; 0: 80 % of what the machine and its cgroup allow",
    )
    head_bytes: int = setting(
        64 << 10, "FRESHET_HEAD_BYTES", "most bytes of a request's first line and headers"
    )
    head_seconds: int = setting(
        10, "FRESHET_HEAD_SECONDS", "seconds in which the head of a request must arrive"
    )
    pause_seconds: int = setting(
        60, "FRESHET_PAUSE_SECONDS", "seconds in which 64 KiB of a body, or the rest of it, must arrive"
    )
    body_seconds: int = setting(
        600, "FRESHET_BODY_SECONDS", "seconds in which the whole body of a request must arrive"
    )
    read_seconds: int = setting(
        60,
        "FRESHET_READ_SECONDS",
        "seconds in which a client must read 64 KiB of a response; slower connections are closed",
    )
    connections: int = setting(1_000, "FRESHET_CONNECTIONS", "most connections at a time; more get 503")
    feeds: int = setting(500, "FRESHET_FEEDS", "most changefeeds that are open at a time; more get 429")
    followed_queries: int = setting(
        50, "FRESHET_FOLLOWED_QUERIES", "most queries that SUBSCRIBE maintains at a time; more get 429"
    )

    def __post_init__(self) -> None:
        for origin in self.origin_names:
            try:
                check_origin(origin)
            except ValueError as error:
                raise ValueError(f"FRESHET_ORIGINS: {error}") from None
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise ValueError(
                "FRESHET_TLS_CERTIFICATE and FRESHET_TLS_KEY go together: one of them is not set"
            )

    @cached_property
    def budget(self) -> Budget:
        """The budget of a body of changes."""
        return Budget(self.body_rows, self.body_limit)

    @property
    def connection_limits(self) -> ConnectionLimits:
        return ConnectionLimits(
            self.head_bytes,
            self.head_seconds,
            self.pause_seconds,
            self.body_seconds,
            self.read_seconds,
            self.connections,
        )

    @property
    def host_names(self) -> tuple[str, ...]:
        return _listed(self.hosts)

    @property
    def origin_names(self) -> tuple[str, ...]:
        return _listed(self.origins)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def is_loopback(host: str) -> bool:
    """Whether an address or a name belongs to the loopback."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_origin(origin: str) -> None:
    """Raises ValueError unless it is an origin as browsers write it: scheme, host, and a port if needed."""
    parts = urlsplit(origin)
    if not parts.scheme or not parts.netloc or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f"{origin!r} is not an origin, such as https://console.example")
