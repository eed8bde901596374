"""Origins: the host names of the service, and the origins whose pages may call it.

A browser lets any page send requests to a service on the same machine, and a page whose name resolves to
127.0.0.1 (DNS rebinding) also reads the responses. Three headers that a page cannot choose reveal it.
`Host` must be a name of the service: one of `FRESHET_HOSTS`, a name of the loopback, or any name if the
service listens to the network and none is configured. `Origin`, if present, must be the service's own or one
of `FRESHET_ORIGINS`. And `Sec-Fetch-Site` must not be another site, unless somebody follows a link.

Programs other than browsers send no `Origin`, and need none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from starlette.types import Scope

from service.errors import BadRequest, CrossOrigin, Misdirected, ServiceError
from service.settings.doors import is_loopback

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]]+)(?::(\d*))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_FOREIGN_SITES = frozenset({"cross-site", "same-site"})
_REMEMBERED = 64
"""The requests whose judgement is remembered: most clients send the same headers again."""
_LONGEST = 100
"""The most characters of a header that a message repeats."""


class Origins:
    """`host` is the address that the service listens on; `hosts` and `origins` come from the settings."""

    def __init__(self, host: str, hosts: Iterable[str], origins: Iterable[str]) -> None:
        self._names = frozenset({"localhost", host.lower(), *(name.lower() for name in hosts)})
        self._any_host = not is_loopback(host) and not any(hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._judged = lru_cache(_REMEMBERED)(self._judge)

    def refusal(self, scope: Scope) -> ServiceError | None:
        """The error for a request that must be refused; None if it may pass."""
        asked = tuple([field for field in scope["headers"] if field[0] in _ASKED])
        return self._judged(scope["method"], scope.get("http_version") != "1.0", asked)

    def _judge(
        self, method: str, is_named: bool, asked: tuple[tuple[bytes, bytes], ...]
    ) -> ServiceError | None:
        """The same for the headers that are asked for. HTTP from 1.1 on `is_named`: it has a Host header."""
        found: dict[bytes, list[str]] = {}
        for name, value in asked:
            found.setdefault(name, []).append(value.decode("latin-1"))
        hosts = found.get(b"host", [])
        host = hosts[0] if hosts else ""
        if len(hosts) > 1 or (is_named and not hosts):
            return BadRequest(f"the request has {len(hosts)} Host headers", "send exactly one")
        if hosts and not self._is_ours(host):
            return Misdirected(
                f"the request is for host {host[:_LONGEST]!r}, which is not a name of the service",
                "add the name to FRESHET_HOSTS",
            )
        origin = found.get(b"origin", [None])[0]
        if origin is not None:
            return None if self._may_call(origin, host) else _cross_origin(f"a page of {origin[:_LONGEST]}")
        site = found.get(b"sec-fetch-site", [""])[0]
        if site in _FOREIGN_SITES and not _is_followed_link(method, found):
            return _cross_origin("a page of another site")
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match[1].lower()
        return self._any_host or name in self._names or is_loopback(name)

    def _may_call(self, origin: str, host: str) -> bool:
        origin = origin.lower()
        if origin in self._origins:
            return True
        scheme, _, authority = origin.partition("://")
        port = _DEFAULT_PORTS.get(scheme)
        return port is not None and authority.removesuffix(f":{port}") == host.lower().removesuffix(
            f":{port}"
        )


_ASKED = frozenset({b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest"})


def _is_followed_link(method: str, found: dict[bytes, list[str]]) -> bool:
    """Whether a browser navigates to the page itself, as for a link on another page."""
    mode, destination = found.get(b"sec-fetch-mode"), found.get(b"sec-fetch-dest")
    return method in ("GET", "HEAD") and mode == ["navigate"] and destination == ["document"]


def _cross_origin(who: str) -> CrossOrigin:
    return CrossOrigin(f"{who} may not call the service", "add its origin to FRESHET_ORIGINS")
