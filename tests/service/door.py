"""How clients of a test reach a service: its addresses, a key, and the certificate that they trust."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass, replace

import httpx

import freshet
from freshet import Connection

PATIENT = 10_000
"""Repetitions of a call that outlasts every restart."""


@dataclass(frozen=True)
class Door:
    urls: tuple[str, ...]
    key: str | None = None
    verify: ssl.SSLContext | bool = False

    @classmethod
    def guarded(cls, urls: Sequence[str], verify: ssl.SSLContext | bool = False) -> Door:
        """The admin's door to a new service, whose first key this makes."""
        door = cls(tuple(urls), None, verify)
        with door.connect() as db:
            return door.of(db.make_key("boss", "admin").key)

    def of(self, key: str) -> Door:
        """The same door for the holder of another key."""
        return replace(self, key=key)

    def at(self, url: str) -> Door:
        """The same door to one service alone."""
        return replace(self, urls=(url,))

    def connect(self, retries: int = PATIENT) -> Connection:
        return freshet.connect(self.urls, self.key, retries=retries, verify=self.verify)

    def http(self) -> httpx.Client:
        """Plain HTTP to the first address, with the key."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.urls[0], timeout=240, verify=self.verify, headers=headers)
