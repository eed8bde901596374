"""What shards tell each other at an exchange: their place in the program, and what is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ProgramPlace:
    """The place in the program, the same for all shards: the next instruction and, for each open loop, the
    current round and the number of rounds that it has run."""

    instruction: int = 0
    rounds: tuple[int, ...] = ()
    done: tuple[int, ...] = ()


@dataclass(frozen=True)
class Flags:
    """A shard's state at an exchange, or that of all shards together.

    `active`: something happened in the current round of the innermost loop. `next`: the next of its rounds
    with work. `entering`: how many rows enter a loop. `error`: why the epoch cannot be computed (the failed
    operator's fingerprint, the message and the hint).
    """

    place: ProgramPlace
    active: bool
    next: int | None
    entering: int
    error: tuple[str, str, str] | None = None

    def document(self) -> list[object]:
        """The flags as JSON values."""
        place = self.place
        return [
            place.instruction, place.rounds, place.done, self.active, self.next, self.entering, self.error
        ]  # fmt: skip

    @staticmethod
    def of(document: Sequence) -> Flags:
        """The flags of a document."""
        instruction, rounds, done, active, following, entering, error = document
        place = ProgramPlace(instruction, tuple(rounds), tuple(done))
        return Flags(place, active, following, entering, None if error is None else tuple(error))


def agreement(said: Sequence[Flags]) -> Flags:
    """The flags of all shards, combined. RuntimeError if they are at different places."""
    places = {flags.place for flags in said}
    if len(places) != 1:
        raise RuntimeError(f"shards are at different places: {sorted(map(repr, places))}")
    following = [flags.next for flags in said if flags.next is not None]
    errors = [flags.error for flags in said if flags.error is not None]
    return Flags(
        said[0].place,
        any(flags.active for flags in said),
        min(following, default=None),
        sum(flags.entering for flags in said),
        min(errors, default=None),
    )
