"""Reasons: a row, and the rows that it follows from, down to the rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.schema import Schema

NO_ROW = "no row"
"""The rule where nothing makes the row."""


@dataclass(frozen=True, eq=False)
class ExplainedRow:
    """A row int64[W] of a schema."""

    schema: Schema
    words: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reason:
    """A row that is there by `rule`, because of others. `relation` is the table whose row it is, which is
    there so many `times`. A row that is explained among the facts has its number `fact` instead of causes.
    `more` causes are left out."""

    rule: str
    row: ExplainedRow | None
    of: tuple[Reason, ...] = ()
    relation: str | None = None
    fact: int | None = None
    more: int = 0
    times: int = 1

    @property
    def is_missing(self) -> bool:
        """Whether there is no such row."""
        return self.rule == NO_ROW

    def walk(self) -> Iterator[Reason]:
        """The reason and all below it."""
        yield self
        for reason in self.of:
            yield from reason.walk()


@dataclass(frozen=True, eq=False)
class Explained:
    """Why there is a row, `count` times. `facts` are rows of recursions, and of views that are read, by
    number. A row of a round follows from rows of earlier rounds, so that no row explains itself. `is_cut` if
    there was too much to tell."""

    reason: Reason
    count: int
    facts: Mapping[int, Reason] = field(default_factory=dict)
    is_cut: bool = False

    def tables(self) -> dict[str, dict[tuple[int, ...], Reason]]:
        """The rows of tables, by table and words, from which the row follows."""
        found: dict[str, dict[tuple[int, ...], Reason]] = {}
        for top in (self.reason, *self.facts.values()):
            for reason in top.walk():
                if reason.relation is not None and reason.row is not None:
                    found.setdefault(reason.relation, {})[reason.row.words] = reason
        return found
