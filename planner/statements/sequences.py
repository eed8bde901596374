"""How a sequence or an identity column counts."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 2**63 - 1
SMALLEST = -LARGEST
"""One more than PostgreSQL's smallest number, which stands for NULL here."""


@dataclass(frozen=True)
class Counting:
    """`start`, and then on by `increment`, as long as numbers are between `minimum` and `maximum`; then again
    from the other end with `cycles`."""

    start: int = 1
    increment: int = 1
    minimum: int = 1
    maximum: int = LARGEST
    cycles: bool = False

    def after(self, number: int) -> int | None:
        """The number that follows; None if there is no more."""
        following = number + self.increment
        if self.minimum <= following <= self.maximum:
            return following
        if not self.cycles:
            return None
        return self.minimum if self.increment > 0 else self.maximum
