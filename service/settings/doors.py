"""The settings of the doors: who may come in, how much they may bring, and how long they may take.

They are part of `service/settings/settings.py`, which reads them with all others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from service.settings.budget import Budget
from service.settings.connection_limits import ConnectionLimits

MIB = 1 << 20


def setting(default: Any, variable: str, meaning: str) -> Any:
    """A setting as a field of a dataclass, with the variable that it is read from."""
    return field(default=default, metadata={"variable": variable, "meaning": meaning})


@dataclass(frozen=True)
class Doors:
    hosts: str = setting(
        "",
        "FRESHET_HOSTS",
        "names, separated by commas, by which the service may be called beside those of the loopback; "
        "empty: no others on the loopback, any elsewhere",
    )
    origins: str = setting(
        "", "FRESHET_ORIGINS", "origins, separated by commas, whose pages may call the service from browsers"
    )

    body_limit: int = setting(
        256 * MIB, "FRESHET_BODY_LIMIT", "largest request body in bytes, counted after decompression"
    )
    body_rows: int = setting(5_000_000, "FRESHET_BODY_ROWS", "rows that the body of one request may bring")
    sql_limit: int = setting(
        8 * MIB,
        "FRESHET_SQL_LIMIT",
        "largest body in bytes of a request that brings no rows: SQL, definitions, jobs",
    )
    head_bytes: int = setting(
        64 << 10, "FRESHET_HEAD_BYTES", "bytes that the request line and the headers of a request may have"
    )
    head_seconds: int = setting(
        10, "FRESHET_HEAD_SECONDS", "seconds in which the head of a request must have come"
    )
    pause_seconds: int = setting(
        60, "FRESHET_PAUSE_SECONDS", "seconds in which 64 KiB of a body, or the rest of it, must come"
    )
    body_seconds: int = setting(
        600, "FRESHET_BODY_SECONDS", "seconds in which the whole body of a request must have come"
    )
    connections: int = setting(
        1_000, "FRESHET_CONNECTIONS", "connections that may be open at a time; more get 503"
    )

    def __post_init__(self) -> None:
        for origin in self.origin_names:
            try:
                check_origin(origin)
            except ValueError as error:
                raise ValueError(f"FRESHET_ORIGINS: {error}") from None

    @property
    def budget(self) -> Budget:
        """What the body of changes may come to."""
        return Budget(self.body_rows, self.body_limit)

    @property
    def connection_limits(self) -> ConnectionLimits:
        return ConnectionLimits(
            self.head_bytes, self.head_seconds, self.pause_seconds, self.body_seconds, self.connections
        )

    @property
    def host_names(self) -> tuple[str, ...]:
        return _listed(self.hosts)

    @property
    def origin_names(self) -> tuple[str, ...]:
        return _listed(self.origins)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def check_origin(origin: str) -> None:
    """ValueError unless it is written as browsers write an origin: scheme, host, and the port if need be."""
    parts = urlsplit(origin)
    if not parts.scheme or not parts.netloc or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f"{origin!r} is no origin, such as https://console.example")
