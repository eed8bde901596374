"""`python -m tests.mutants [names]`: plants faults one at a time, and says of each whether the tests see it.

A fault is planted in a copy of the tree, and the tests that it names are run there with fixed seeds. It is
caught if one of them fails: a test that cannot be collected, or that runs out of time, has seen nothing.
First, all these tests have to pass without a fault. The exit code is 1 if a fault is not caught.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.copies import Copy
from tests.mutants.fault import Fault, all_faults

FAILED = 1
"""pytest's exit code when tests ran and some failed."""


@dataclass(frozen=True)
class Outcome:
    fault: Fault
    caught: bool
    seconds: float
    detail: str

    def __str__(self) -> str:
        verdict = "caught" if self.caught else "NOT CAUGHT"
        line = f"{verdict:10} {self.seconds:6.1f} s  {self.fault.name}: {self.fault.sentence}"
        return line if self.caught else f"{line}\n{'':21}{self.detail}"


class Runner:
    """Copies of the tree, of which each runs a fault at a time."""

    def __init__(self, directory: Path, workers: int, limit: float) -> None:
        self._limit = limit
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for number in range(workers):
            self._free.put(Copy(directory / f"copy{number}", directory / "kernels"))

    def unharmed(self, faults: Sequence[Fault]) -> str:
        """What pytest says of the tests without a fault where they do not all pass, else nothing."""
        copy = self._free.get()
        try:
            tests = sorted({test for fault in faults for test in fault.tests})
            code, said = copy.run(tests)
            return said if code else ""
        finally:
            self._free.put(copy)

    def outcome(self, fault: Fault) -> Outcome:
        copy = self._free.get()
        start = time.monotonic()
        try:
            with copy.planted(fault):
                code, said = copy.run(fault.tests, self._limit)
        except subprocess.TimeoutExpired:
            return Outcome(fault, False, self._limit, "out of time")
        finally:
            self._free.put(copy)
        failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
        detail = failed[0] if failed else (said.splitlines() or ["nothing was said"])[-1]
        return Outcome(fault, code == FAILED, time.monotonic() - start, detail)


def _chosen(names: Sequence[str]) -> list[Fault]:
    """The faults of which a name is part of the file's name; all, if there are no names."""
    return [fault for fault in all_faults() if not names or any(name in fault.name for name in names)]


def _table(outcomes: Sequence[Outcome]) -> str:
    """A line a fault, those that are not caught last."""
    ordered = sorted(outcomes, key=lambda outcome: (not outcome.caught, outcome.fault.name))
    return "\n".join(map(str, ordered))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of faults; all without any")
    parser.add_argument("--workers", type=int, default=2, help="how many run at a time")
    parser.add_argument("--limit", type=float, default=600, help="seconds for the tests of a fault")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a fault first")
    options = parser.parse_args()
    faults = _chosen(options.names)
    if not faults:
        parser.error("no fault has such a name")
    with tempfile.TemporaryDirectory(prefix="freshet-mutants-") as directory:
        runner = Runner(Path(directory), options.workers, options.limit)
        if not options.trust and (said := runner.unharmed(faults)):
            print(said, "\nthese tests fail without a fault, so that they would prove nothing", sep="")
            return 1
        outcomes = []
        with ThreadPoolExecutor(options.workers) as threads:
            for done in as_completed([threads.submit(runner.outcome, fault) for fault in faults]):
                outcomes.append(done.result())
                print(f"{len(outcomes)} of {len(faults)}: {outcomes[-1]}", file=sys.stderr, flush=True)
    print(_table(outcomes))
    caught = sum(outcome.caught for outcome in outcomes)
    print(f"{caught} of {len(outcomes)} faults are caught")
    return 0 if caught == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
