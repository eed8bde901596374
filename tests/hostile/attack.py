"""An attack: a hostile request, or several, and the answers that are right.

An attack says nothing of time. It is answered rightly if each of its replies has one of its statuses and, if
that is a problem, one of its codes. The service must outlive it, and the canary must be right afterwards:
`tests/hostile/hunt.py` sees to that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.hostile.door import Door, Reply

_ERRORS = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
_CODE = re.compile(r"^\| `(\w+)` \| ([\d, ]+) \|", re.MULTILINE)

REFUSED = frozenset({400, 409, 413, 422, 429})
"""What the client has asked cannot be done."""
CUT = 0
"""The status of a reply that never came, because the connection was closed."""

Send = Callable[[Door], Sequence[Reply]]


@dataclass(frozen=True)
class Attack:
    """`codes` are the problems that are right; with none, every documented one is, except a fault of ours.

    `is_brief`: the attack belongs to the default run. `wrong_today` says what is known to go wrong.
    """

    name: str
    send: Send = field(repr=False)
    statuses: frozenset[int]
    codes: frozenset[str] = frozenset()
    is_brief: bool = False
    wrong_today: str = ""

    def wrong(self, replies: Sequence[Reply]) -> str:
        """What is wrong with the replies, in a sentence; nothing if they are right."""
        if not replies:
            return "there is no reply"
        for number, reply in enumerate(replies):
            if reply.status not in self.statuses:
                expected = f"not of {sorted(self.statuses)}"
            elif reply.status >= 400 and reply.code not in (self.codes or documented(reply.status)):
                expected = f"not of {sorted(self.codes) or 'those in docs/errors.md'}"
            else:
                continue
            return f"answer {number} is {reply}, {expected}: {reply.text}".rstrip(": ")
        return ""


@cache
def documented(status: int) -> frozenset[str]:
    """The codes that docs/errors.md has for a status."""
    rows = _CODE.findall(_ERRORS.read_text())
    return frozenset(code for code, statuses in rows if str(status) in statuses.split(", "))


def attack(name: str, send: Send, statuses: set[int] | frozenset[int], *codes: str, **more) -> Attack:
    return Attack(name, send, frozenset(statuses), frozenset(codes), **more)
