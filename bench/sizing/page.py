"""docs/sizing.md: what rows, views, changes and starts cost, as tables, and rules of thumb."""

from __future__ import annotations

from collections.abc import Sequence

from bench.sizing.run import CHANGES, EPOCHS, WARM, Sizes
from bench.table import Row, duration, markdown

NAME = "sizing.md"
AT_REST = ("table or view", "memory", "log", "files")
CHANGING = ("table or view", "log", "history", "start from the log", "start from files", "memory")
TEXT = """\
# Sizing

`python -m bench sizing` measures the tables of this page and writes it.

{facts}

## Rules of thumb

- **A row costs** at most 16 bytes and 8 for each column in files. A large batch takes only the bytes that the
  words of each column need, in files and in memory, and the figures below were measured before that.
- **A text costs** its length and about 17 bytes in files, and its length and about 60 bytes in memory.
  Equal texts are stored once. Texts are read into memory at a start. A text that no row of a kept epoch has
  any more goes at a checkpoint, once there are about as many new texts as old ones.
- **A view costs** what its operators and its own rows hold. A filter costs the rows that it keeps. A join
  also keeps both inputs sorted by the key, unless another view does so already. A recursion keeps the rows
  of every round.
- **A checkpoint moves rows to files.** Files are mapped: Linux keeps in memory what is used and may drop
  the rest. So only rows that have come since the last checkpoint need the memory of the table below.
- **History costs memory.** Replacing a row adds two differences to the table, and two for each row of a
  view that changes. Each costs about as much as a row, until it is forgotten. Set `FRESHET_HISTORY_SECONDS`
  if you do not need every epoch.
- **The log stays small**: it is compressed, and a checkpoint replaces it after `FRESHET_CHECKPOINT_BYTES`.

## Choosing a machine

- **Memory**: add up, over tables and views, rows times *memory* of the table below; add the history that
  you keep, which is changes times *history*; add 150 MB for the service, and `FRESHET_QUERY_MEMORY` for
  each ad-hoc query that may run at a time. Rows in files need no memory of their own, but reads are fast
  only while Linux can keep them there.
- **Disk**: rows times *files*, twice, because a checkpoint writes merged files before it drops the old
  ones; and the log, up to `FRESHET_CHECKPOINT_BYTES`.
- **An example**: 10,000,000 orders of 8 integers, of which 100,000 change in a day, history for a week, a
  join with the customers and a sum over it. In files that is 10 × (82 + 106 + 9) MB, about 2 GB, so 4 GB of
  disk. History is 700,000 × (296 + 341 + 272) B, about 640 MB. A start computes nothing again. 4 GB of
  memory are plenty.
- **Cores**: one writes. All epochs pass through one thread, which computes the views of small changes, so a
  faster core makes epochs faster, and a second one does not. Other cores take reads, ad-hoc queries
  (`FRESHET_QUERY_WORKERS`), new views and checkpoints, and share the work of large changes
  (`FRESHET_THREADS`). Two cores suffice for a service with few readers, four to eight for one with many.
- **SQLite or PostgreSQL**: both hold definitions and the log, and the rows are in files either way. An
  epoch is one commit, so its time has the disk's flush in it, above. SQLite needs no administration, and a
  flush is all that a commit costs. PostgreSQL adds a round trip. Take it if its backups, its replicas and
  its monitoring are what you have, and put it near. One service at a time writes, whichever it is.

## Rows at rest

A table of {rows:,} rows, loaded in {epochs} epochs over HTTP. All figures are bytes for each row of the
table. *Memory* is what the service holds more than before, with nothing in files yet. *Log* is what the
rows need in the log, and *files* what a checkpoint writes. A view stands over a table of 2 integers: its
figures contain the table, and the view's own share follows the plus sign.

{rest}

## Changes and starts

A change replaces one row of such a table. *Log* is what an epoch with one change adds to the log. *History*
is the memory that a change adds while all epochs are kept, measured over {changes} epochs of {many:,}
changes. [benchmarks.md](benchmarks.md) has the time of a change.

The columns of starts have the processor time until the service is ready. About three seconds of it are Python
and the loading of the code. A *start from the log* follows `kill -9` without any checkpoint, so the service
computes everything again. A *start from files* follows an orderly end, and *memory* is what the process
then holds, besides the mapped files.

{changing}
"""


def page(facts: str, rows: int, found: Sequence[Sizes]) -> str:
    """The whole page. The first of `found` is the table alone that the views read."""
    return TEXT.format(
        facts=facts,
        rows=rows,
        epochs=EPOCHS,
        rest=markdown([at_rest(sizes, found[0]) for sizes in found], AT_REST),
        changes=CHANGES,
        many=rows // WARM,
        changing=markdown([changing(sizes) for sizes in found], CHANGING),
    )


def at_rest(sizes: Sizes, table: Sizes) -> Row:
    def shown(one: float, alone: float) -> str:
        return f"{one:,.0f} B" + (f" (+ {one - alone:,.0f} B)" if sizes.subject.view else "")

    log = f"{sizes.log:,.0f} B"
    return sizes.subject.name, shown(sizes.memory, table.memory), log, shown(sizes.files, table.files)


def changing(sizes: Sizes) -> Row:
    return (
        sizes.subject.name,
        f"{sizes.epoch:,.0f} B",
        f"{sizes.history:,.0f} B",
        duration(sizes.replay),
        duration(sizes.start),
        f"{sizes.after / 1e6:,.0f} MB",
    )
