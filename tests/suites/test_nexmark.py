"""The queries of Nexmark as views, registered before any event, against DuckDB after every change.

FRESHET_NEXMARK_ROUNDS makes it longer.
"""

from __future__ import annotations

import os

from bench.suite.maintained import Maintained
from bench.suite.nexmark.events import Events
from bench.suite.nexmark.queries import QUERIES
from bench.suite.nexmark.schema import RELATIONS
from tests.seeds import SEED

ROUNDS = int(os.environ.get("FRESHET_NEXMARK_ROUNDS", "3"))
KEYS = 60
"""How many of the 100 keys that bids may look up `side_input` has."""


def test_every_view_at_every_epoch() -> None:
    events, maintained = Events(SEED), Maintained(RELATIONS, QUERIES)
    maintained.compare(events)
    maintained.advance(events.side_input(KEYS))
    for _ in range(ROUNDS):
        maintained.advance(events.happen(250))
        maintained.compare(events)
        for name in RELATIONS:
            maintained.advance(events.alter(name, 4))
            maintained.advance(events.remove(name, 4))
            maintained.compare(events)
    for name in RELATIONS:
        maintained.advance(events.remove(name, 10**9))
        maintained.compare(events)
    events.close()
