"""Options of an engine: what its views may cost, and how they are kept up to date."""

from __future__ import annotations

from dataclasses import dataclass

from engine.operators.rebuild import Rebuild


@dataclass(frozen=True)
class Options:
    """`max_rounds`: rounds after which a recursion without a limit of its own has failed.

    `rebuild`: when a recursion is rebuilt instead of changed. The differences are the same.
    """

    max_rounds: int = 100_000
    rebuild: Rebuild = Rebuild.AUTO


DEFAULTS = Options()
