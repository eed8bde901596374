"""The long hunt: `python -m tests.dialects.hunt` asks random queries in the words of every proven dialect,
from seed to seed, until each dialect has answered as many as wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.dialects.random_queries import Outcome, ask
from tests.dialects.spellings import DIALECTS
from tests.hunting import Hunt, hunt_parser


def hunted(arguments: Sequence[str] | None = None) -> int:
    """Whether there are faults, as the process says it; the arguments are the command's unless given."""
    parser = hunt_parser("tests.dialects.hunt", __doc__, "dialects")
    parser.add_argument("dialect", nargs="*", choices=[[], *DIALECTS], help="only these dialects")
    parser.add_argument("--queries", type=int, default=1_000, help="a dialect")
    options = parser.parse_args(arguments)
    hunt = Hunt(options)
    right, maintained, faults = (
        Counter(hunt.known.get(name, {})) for name in ("right", "maintained", "faults")
    )
    left_out = {name: Counter(each) for name, each in hunt.known.get("left_out", {}).items()}
    for seed in hunt.seeds():
        waiting = [name for name in options.dialect or DIALECTS if right[name] < options.queries]
        if not waiting:
            break
        outcome = Outcome()
        ask(seed, waiting, outcome)
        right, maintained = right + outcome.right, maintained + outcome.maintained
        for name, each in outcome.left_out.items():
            left_out[name] = left_out.get(name, Counter()) + each
        for fault in outcome.faults:
            hunt.note(str(fault))
        faults.update(fault.dialect for fault in outcome.faults)
        known = {"right": right, "maintained": maintained, "faults": faults, "left_out": left_out}
        hunt.keep(known, f"{right.total()} right, {dict(faults) or 'no'} faults")
    for name in options.dialect or DIALECTS:
        print(f"{name}: {right[name]} right, {maintained[name]} of them maintained, {faults[name]} faults")
    return bool(faults)


if __name__ == "__main__":
    raise SystemExit(hunted())
