"""Faults: small patches that make the code wrong, each with the tests that have to see it.

A fault is a file of unified diff with a heading: a sentence that says what is wrong, and `Caught-by:` lines
that name tests as pytest does. A hunk is applied by its text and not by line numbers: what stands before the
change must be in the file exactly once. So a patch survives changes elsewhere in the file, and one whose
place has changed is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path(__file__).parent / "faults"


class DoesNotApply(Exception):
    """A hunk whose text is not in its file exactly once."""


@dataclass(frozen=True)
class Hunk:
    """A place in a file, and what it becomes: whole lines, context included."""

    path: str
    before: str
    after: str

    def applied(self, text: str) -> str:
        found = list(re.finditer(rf"^{re.escape(self.before)}", text, re.MULTILINE))
        if len(found) != 1:
            raise DoesNotApply(f"{self.path} has these lines {len(found)} times:\n{self.before}")
        return text[: found[0].start()] + self.after + text[found[0].end() :]


@dataclass(frozen=True)
class Fault:
    """A fault: its file's name, and what the file says."""

    name: str
    text: str

    @cached_property
    def _heading(self) -> str:
        return self.text.partition("\n--- ")[0]

    @property
    def sentence(self) -> str:
        """What is wrong."""
        lines = self._heading.splitlines()
        return " ".join(line.strip() for line in lines if line and not line.startswith("Caught-by:"))

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids, of which at least one fails."""
        return tuple(re.findall(r"^Caught-by: *(\S.*?) *$", self._heading, re.MULTILINE))

    @cached_property
    def hunks(self) -> tuple[Hunk, ...]:
        return tuple(_hunks(self.text[len(self._heading) + 1 :]))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it changes."""
        return tuple(dict.fromkeys(hunk.path for hunk in self.hunks))

    def apply(self, root: Path) -> dict[str, str]:
        """The files that it changes below a root, by their paths, as they become; none is written."""
        changed = {path: (root / path).read_text() for path in self.paths}
        for hunk in self.hunks:
            changed[hunk.path] = hunk.applied(changed[hunk.path])
        return changed


def _hunks(diff: str) -> Iterator[Hunk]:
    path = ""
    before: list[str] = []
    after: list[str] = []
    for line in [*diff.splitlines(), "@@"]:
        if line.startswith(("--- ", "+++ ", "@@")):
            if before or after:
                yield Hunk(path, "".join(before), "".join(after))
            before, after = [], []
            path = line.removeprefix("+++ b/") if line.startswith("+++ ") else path
            continue
        if line[:1] != "+":
            before.append(line[1:] + "\n")
        if line[:1] != "-":
            after.append(line[1:] + "\n")


def all_faults() -> list[Fault]:
    """Every fault, by name."""
    return [Fault(path.stem, path.read_text()) for path in sorted(FAULTS.glob("*.patch"))]
