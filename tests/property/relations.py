"""What FROM may name, and the columns that are in reach behind it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tests.property.terms import Term

Columns = tuple[tuple[str, str], ...]  # name and sort


@dataclass(frozen=True)
class Relation:
    """A table, a view, a CTE."""

    name: str
    columns: Columns


def together(left: tuple[Term, ...], right: tuple[Term, ...]) -> tuple[Term, ...]:
    """The columns of both sides, but for merged ones, which have a bare name alone, that share it."""
    both = (*left, *right)
    names = Counter(map(_bare, both))
    return tuple(atom for atom in both if "." in atom.text or names[atom.text] == 1)


def qualified(atoms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The columns that a subquery may name: a bare name would be its own column, if it has one."""
    return tuple(atom for atom in atoms if "." in atom.text)


def _bare(atom: Term) -> str:
    return atom.text.split(".")[-1]


def enumerated(sorts: tuple[str, ...]) -> Columns:
    return tuple((f"c{i}", sort) for i, sort in enumerate(sorts))


def columns_of(alias: str, columns: Columns) -> tuple[Term, ...]:
    return tuple(Term(sort, f"{alias}.{column}") for column, sort in columns)
