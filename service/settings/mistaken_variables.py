"""Environment variables that are no settings, and are called nearly as one is: somebody has mistyped it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.suggestions import distance
from service.settings.settings import SETTINGS

_PREFIX = "FRESHET_"
_STEPS = 2
"""The most letters in which a mistyped name differs."""


def mistaken_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each of the variables."""
    known = [setting.variable for setting in SETTINGS]
    for given in sorted(environment.keys() - set(known)):
        if not given.upper().startswith(_PREFIX):
            continue
        steps, near = min((distance(given.upper(), variable), variable) for variable in known)
        if steps <= min(_STEPS, (len(given) - len(_PREFIX)) // 3):
            yield f"the environment's {given} is no setting, and is not read; did you mean {near}?"
