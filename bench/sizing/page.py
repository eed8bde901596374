"""docs/sizing.md: what rows, views, changes and starts cost, as tables, and rules of thumb."""

from __future__ import annotations

from collections.abc import Sequence

from bench.sizing.run import CHANGES, EPOCHS, Sizes
from bench.table import Row, duration, markdown

NAME = "sizing.md"
REST = ("rows", "memory", "log", "files")
CHANGES = ("rows", "time", "log", "history", "from the log", "from files", "memory")
HEAD = """\
# Sizing
"""


def page(facts: str, rows: int, found: Sequence[Sizes]) -> str:
    """The whole page. The first of `found` is the table alone that the views read."""
    rest = markdown([at_rest(sizes, found[0]) for sizes in found], REST)
    changes = markdown([changing(sizes) for sizes in found], CHANGES)
    return HEAD.format(facts=facts, rows=rows, epochs=EPOCHS, rest=rest, batch=rows // 100, changes=changes)


def at_rest(sizes: Sizes, table: Sizes) -> Row:
    def shown(one: float, alone: float) -> str:
        return f"{one:,.0f} B" + (f" (+ {one - alone:,.0f} B)" if sizes.subject.view else "")

    log = f"{sizes.log:,.0f} B"
    return sizes.subject.name, shown(sizes.memory, table.memory), log, shown(sizes.files, table.files)


def changing(sizes: Sizes) -> Row:
    return (
        sizes.subject.name,
        duration(sizes.single),
        f"{sizes.epoch:,.0f} B",
        f"{sizes.history:,.0f} B",
        duration(sizes.replay),
        duration(sizes.start),
        f"{sizes.after / 1e6:,.0f} MB",
    )
