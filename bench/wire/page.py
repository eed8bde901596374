"""The page docs/postgres-figures.md."""

from __future__ import annotations

import os

from bench.wire.figures import Figures, table
from bench.wire.own_postgres import programs
from bench.wire.run import Sizes
from bench.wire.systems import version

NAME = "postgres-figures.md"
_MISSING = "- PostgreSQL is not installed here, so its lines are missing"
_TEXT = """\
# The PostgreSQL door beside PostgreSQL

`python -m bench postgres` measures both and writes this page; `make bench` runs it. `python -m bench --quick
postgres` only shows that it works.

{facts}
{server}
- load average at the end: {load}

{table}

## How to read it

- Both run on this machine and keep their data on its disk, with their default settings: PostgreSQL with
  fsync. Each takes its turn, {turns} times, in one run; the figures are those of all turns.
- **The client** is a process of its own, which sends messages that were made before and compares every
  answer whole. It speaks to both in the same bytes. It is one thread of Python, so it takes part of the
  machine: a rate is what both leave each other.
- **processor time each** is that of all processes of the server, divided by the operations. On a machine
  that others use too, it says more than the clock.
- **The table** has {rows:,} rows of five columns (two BIGINTs, one of them the primary key, a DOUBLE, a DATE
  and a TEXT that is another in each row).
- **point reads** are `SELECT * FROM sales WHERE id = $1`, prepared once: Bind, Execute and Sync. **INSERTs**
  are prepared too, and each commits by itself.
- **from commit to followers** is the time from the INSERT's answer until each follower has the row, 0 if it
  has it before. Ten rows a second at most are inserted. Freshet's followers have a SUBSCRIBE each, over
  `COPY ... TO STDOUT`. PostgreSQL has nothing of the kind: there a trigger calls `pg_notify`, and the
  followers LISTEN. Its processor time counts the connections too.
- **goal** is a target for the service, not a measurement.
"""


def page(facts: str, figures: Figures, sizes: Sizes) -> str:
    """`facts` describe the machine."""
    where = programs()
    return _TEXT.format(
        facts=facts,
        server=_MISSING if where is None else f"- {version(where)}",
        load=", ".join(f"{part:.1f}" for part in os.getloadavg()),
        table=table(figures),
        turns=sizes.turns,
        rows=sizes.rows,
    )
