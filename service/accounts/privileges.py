"""Privileges, and the roles that are always there.

A role is a set of permissions, each a privilege on the relations that a pattern matches: a full name, in
whose own part `*` stands for any characters, or `*` alone for every relation of every schema. Permissions go
by names, not by objects: they outlive a DROP, and hold for whatever gets the name later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from planner.relation_names import EVERY, schema_pattern, split_name

_DIVIDER = "\0"
"""Stands between schema and name in a subject; no name has it."""


class Privilege(StrEnum):
    """ADMIN, which is for all relations or none, manages accounts, and implies all others."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    ADMIN = "ADMIN"


OF_ROWS = (Privilege.SELECT, Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE)


@dataclass(frozen=True, order=True)
class Permission:
    privilege: Privilege
    pattern: str


Permissions = frozenset[Permission]
PREDEFINED: dict[str, Permissions] = {
    "read": frozenset({Permission(Privilege.SELECT, EVERY)}),
    "write": frozenset(Permission(privilege, EVERY) for privilege in OF_ROWS),
    "admin": frozenset({Permission(Privilege.ADMIN, EVERY)}),
}
"""The permissions of the roles that need not be made. Whoever has all of `write` may also define."""


def of_schema(schema: str) -> Permissions:
    """What lets define in a schema: all privileges on all that is in it."""
    return frozenset(Permission(privilege, schema_pattern(schema, EVERY)) for privilege in OF_ROWS)


def subject(relation: str) -> str:
    """The text of a full name that a matcher reads."""
    return _DIVIDER.join(split_name(relation))


def matcher(patterns: Iterable[str]) -> re.Pattern[str]:
    """A pattern of `re` whose full matches are the subjects that one of the patterns matches.

    It goes through a subject once, whatever it is: each part between two `*` is looked for once, and where it
    is found first it stays (an atomic group), for a later place would leave less for the parts behind it.
    """
    found = sorted(set(patterns))
    return re.compile("|".join(_as_regex(_divided(p)) for p in found) if found else "(?!)", re.DOTALL)


def _as_regex(pattern: str) -> str:
    first, *parts = map(re.escape, re.split(r"\*+", pattern))
    if not parts:
        return first
    inner = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return f"{first}{inner}.*{parts[-1]}"


def _divided(pattern: str) -> str:
    """The pattern as a pattern of subjects: `*` stands for letters of one part, or alone for both."""
    return pattern if pattern == EVERY else subject(pattern)


def covers(pattern: str, other: str) -> bool:
    """Whether a pattern matches all that another pattern, or a name, matches: `*` may stand for `*`."""
    return matcher([pattern]).fullmatch(_divided(other)) is not None


def overlap(pattern: str, other: str) -> bool:
    """Whether there is a name that both patterns match."""
    pattern, other = _divided(pattern), _divided(other)
    # Row by row: whether the rest of `pattern` and each rest of `other` overlap, from their ends on.
    ends = [set(other[at:]) <= {EVERY} for at in range(len(other) + 1)]
    for letter in reversed(pattern):
        row = [ends[-1] and letter == EVERY]
        for at in range(len(other) - 1, -1, -1):
            if letter == EVERY or other[at] == EVERY:
                row.append(ends[at] or row[-1])
            else:
                row.append(letter == other[at] and ends[at + 1])
        ends = row[::-1]
    return ends[0]
