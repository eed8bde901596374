"""What an output does epoch by epoch, in lines to read: how the programs beside this one show themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from engine.api import Dataflow, Output

MOST = 6
"""Lines shown of an epoch's changes."""


def tell(flow: Dataflow, output: Output, title: str) -> None:
    """Complete the epoch; print its number, `title`, and how it changes `output`."""
    epoch = flow.time
    flow.advance()
    print(f"epoch {epoch}: {title}")
    lines = list(changed(output.schema.names, output.difference(epoch)))
    for line in lines[:MOST]:
        print(f"    {line}")
    if len(lines) > MOST:
        print(f"      and {len(lines) - MOST} changes more")
    if not lines:
        print("      nothing changes")


def changed(names: tuple[str, ...], difference: dict[tuple, int]) -> Iterator[str]:
    """Lines: `+ row`, `- row`, or `~ row` where one takes the place of another with the same first values."""
    groups: defaultdict[tuple, list[tuple[int, object]]] = defaultdict(list)
    for row, diff in sorted(difference.items()):
        groups[row[:-1]].append((diff, row[-1]))
    for key, changes in groups.items():
        shown = "".join(f"{name} {value}, " for name, value in zip(names, key, strict=False)) + names[-1]
        match sorted(changes):
            case [(-1, old), (1, new)]:
                yield f"~ {shown} {old} -> {new}"
            case _:
                yield from (f"{'+' if diff > 0 else '-'} {shown} {value}" for diff, value in changes)
