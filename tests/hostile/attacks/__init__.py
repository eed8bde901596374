"""All attacks, by what they aim at."""

from __future__ import annotations

from tests.hostile.attacks import bodies, connections, constants, nesting, recursions, rows, statements

ATTACKS = (
    *recursions.ATTACKS,
    *constants.ATTACKS,
    *nesting.ATTACKS,
    *rows.ATTACKS,
    *bodies.ATTACKS,
    *connections.ATTACKS,
    *statements.ATTACKS,
)
