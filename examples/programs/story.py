"""What an output does epoch by epoch, in lines to read: how the programs beside this one show themselves."""

from __future__ import annotations

from engine import Dataflow, Output

MOST = 6
"""Changes shown of an epoch."""


def tell(flow: Dataflow, output: Output, title: str) -> None:
    """Complete the epoch; print its number, `title`, and what it changes of `output`: `- row` and `+ row`."""
    epoch = flow.time
    flow.advance()
    names = output.collection.schema.names
    changes = sorted(output.difference(epoch).items())
    print(f"epoch {epoch}: {title}")
    for row, diff in changes[:MOST]:
        values = ", ".join(f"{name} {value}" for name, value in zip(names, row, strict=True))
        print(f"    {'+' if diff > 0 else '-'} {values}")
    if len(changes) > MOST:
        print(f"      and {len(changes) - MOST} changes more")
    if not changes:
        print("      nothing changes")
