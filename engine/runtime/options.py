"""Options of an engine: limits of its views, and how recursions are maintained."""

from __future__ import annotations

from dataclasses import dataclass

from engine.operators.allowance import UNLIMITED, Allowance
from engine.operators.rebuild import Rebuild


@dataclass(frozen=True)
class Options:
    """`max_rounds`: a recursion without a limit of its own fails after this many rounds.

    `rebuild`: when a recursion is rebuilt instead of updated. The differences are the same either way.

    `allowance`: what each operator may use in an advance; the views that need more fail.

    `keeps_files`: whether the files of its state stay as long as it has them mapped. If not, executors get
    what they read in files of their own.
    """

    max_rounds: int = 100_000
    rebuild: Rebuild = Rebuild.AUTO
    allowance: Allowance = UNLIMITED
    keeps_files: bool = True


DEFAULTS = Options()
