"""Long hunts: cases from seed to seed, after faults too.

Where a hunt is stands in a file, so that it can be stopped and started again; each fault is written to the
end of another.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def hunt_parser(program: str, description: str | None, name: str) -> ArgumentParser:
    """A parser with the arguments of all hunts; the files are called by the name unless they are given."""
    parser = ArgumentParser(prog=f"python -m {program}", description=description)
    parser.add_argument("--seed", type=int, default=0, help="the first one, where nothing was begun")
    parser.add_argument("--last", type=int, help="the last one")
    parser.add_argument("--state", type=Path, default=Path(f"{name}.json"), help="where it is")
    parser.add_argument("--found", type=Path, default=Path(f"{name}.txt"), help="what it has found")
    return parser


class Hunt:
    """A hunt as its files say. `known` is what was kept beside the seed."""

    def __init__(self, options: Namespace) -> None:
        """Takes the arguments of `hunt_parser`."""
        self._options = options
        state: Path = options.state
        options.found.touch()
        self.known: dict[str, Any] = json.loads(state.read_text()) if state.exists() else {}
        self.seed: int = self.known.pop("seed", options.seed)

    def seeds(self) -> Iterator[int]:
        """The seeds from here on, up to the last one."""
        while self._options.last is None or self.seed <= self._options.last:
            yield self.seed

    def note(self, fault: str) -> None:
        with self._options.found.open("a") as file:
            file.write(f"{fault}\n\n")

    def keep(self, known: Mapping[str, object], line: str) -> None:
        """The seed is done, after which so much is known; the line tells whoever looks on."""
        self.seed += 1
        self._options.state.write_text(json.dumps({"seed": self.seed, **known}))
        print(f"seed {self.seed}, {line}", flush=True)
