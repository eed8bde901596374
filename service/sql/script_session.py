"""What the statements of one client share: a script has one session, a connection one for all its scripts."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.parsing.namespace import DEFAULT_PATH, SearchPath
from service.sql.preparing import Prepared

GivenNumbers = dict[str, int]
"""The last number that each sequence gave a session, by its full name."""


@dataclass
class ScriptSession:
    """`search_path` has the schemas of names without one. SET changes it for the statements that follow.
    `temporary` is the schema of temporary tables, if there is one. `given` has what sequences gave,
    `prepared` the statements of PREPARE. `branch` is the branch that is read and changed, None for main."""

    search_path: SearchPath = DEFAULT_PATH
    temporary: str | None = None
    given: GivenNumbers = field(default_factory=dict)
    prepared: Prepared = field(default_factory=dict)
    branch: str | None = None
