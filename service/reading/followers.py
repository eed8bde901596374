"""Followers: who is sent the changes of relations as they come, by whatever door."""

from __future__ import annotations

from typing import Protocol

from service.accounts.principals import Principal


class Follower(Protocol):
    """`follows` is a relation's name, None for the whole catalog; `since` is the last epoch that was sent."""

    @property
    def principal(self) -> Principal: ...

    @property
    def follows(self) -> str | None: ...

    @property
    def since(self) -> int: ...
