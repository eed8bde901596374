"""The long hunt: `python -m tests.service.why_hunt` explains rows of random views, from seed to seed, until
as many are explained as wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.hunting import Hunt, hunt_parser
from tests.service.why_pairs import faults_of, told


def hunted(arguments: Sequence[str] | None = None) -> int:
    """Whether there are faults, as the process says it; the arguments are the command's unless given."""
    parser = hunt_parser("tests.service.why_hunt", __doc__, "why")
    parser.add_argument("--pairs", type=int, default=5_000, help="of a view and a row, in all")
    parser.add_argument("--rows", type=int, default=2, help="of each view")
    options = parser.parse_args(arguments)
    hunt = Hunt(options)
    counted: Counter[str] = Counter(hunt.known.get("counted", {}))
    for seed in hunt.seeds():
        if counted["pairs"] >= options.pairs:
            break
        for fault in faults_of(seed, counted, options.rows):
            counted["faults"] += 1
            hunt.note(fault)
        hunt.keep({"counted": counted}, f"{counted['pairs']} pairs, {counted['faults']} faults")
    print(f"{told(counted)}; {counted['faults']} faults")
    return bool(counted["faults"])


if __name__ == "__main__":
    raise SystemExit(hunted())
