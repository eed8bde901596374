"""The open sessions of PostgreSQL's protocol, as one principal sees them at a moment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Encryption:
    protocol: str
    cipher: str
    bits: int


@dataclass(frozen=True)
class SessionWork:
    """What a session does. Times are seconds since 1970. Unless the `state` is `active`, the session waits
    for its client, and `query` is what it ran last."""

    user: str
    application: str
    address: str
    port: int | None
    encryption: Encryption | None
    began: float
    block_began: float | None
    query_began: float | None
    changed: float
    state: str
    query: str


@dataclass(frozen=True)
class ShownSession:
    """A session as one principal sees it: without its `work` if that is not for the principal's eyes."""

    pid: int
    work: SessionWork | None
