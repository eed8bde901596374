"""The long hunt: `python -m tests.dialects.hunt` asks random queries in the words of every proven dialect,
from seed to seed, after faults too, until each dialect has answered as many as wanted.

Where it is stands in a file, so that it can be stopped and started again; each fault is written to the end of
another.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.dialects.random_queries import Outcome, ask
from tests.dialects.spellings import DIALECTS


def hunted(arguments: Sequence[str] | None = None) -> int:
    """Whether there are faults, as the process says it; the arguments are the command's unless given."""
    parser = argparse.ArgumentParser(prog="python -m tests.dialects.hunt", description=__doc__)
    parser.add_argument("dialect", nargs="*", choices=[[], *DIALECTS], help="only these dialects")
    parser.add_argument("--queries", type=int, default=1_000, help="a dialect")
    parser.add_argument("--seed", type=int, default=0, help="the first one, where nothing was begun")
    parser.add_argument("--last", type=int, help="the last one")
    parser.add_argument("--state", type=Path, default=Path("dialects.json"), help="where it is")
    parser.add_argument("--found", type=Path, default=Path("dialects.txt"), help="what it has found")
    options = parser.parse_args(arguments)
    state = json.loads(options.state.read_text()) if options.state.exists() else {"seed": options.seed}
    right, maintained, faults = (Counter(state.get(name, {})) for name in ("right", "maintained", "faults"))
    left_out = {name: Counter(each) for name, each in state.get("left_out", {}).items()}
    seed = state["seed"]
    while options.last is None or seed <= options.last:
        waiting = [name for name in options.dialect or DIALECTS if right[name] < options.queries]
        if not waiting:
            break
        outcome = Outcome()
        ask(seed, waiting, outcome)
        right, maintained = right + outcome.right, maintained + outcome.maintained
        for name, each in outcome.left_out.items():
            left_out[name] = left_out.get(name, Counter()) + each
        with options.found.open("a") as file:
            file.writelines(f"{fault}\n\n" for fault in outcome.faults)
        faults.update(fault.dialect for fault in outcome.faults)
        seed += 1
        known = {"seed": seed, "right": right, "maintained": maintained, "faults": faults}
        options.state.write_text(json.dumps({**known, "left_out": left_out}))
        print(f"seed {seed}, {right.total()} right, {dict(faults) or 'no'} faults", flush=True)
    for name in options.dialect or DIALECTS:
        print(f"{name}: {right[name]} right, {maintained[name]} of them maintained, {faults[name]} faults")
    return bool(faults)


if __name__ == "__main__":
    raise SystemExit(hunted())
