"""The long hunt: `python -m tests.property` checks random views from seed to seed, after failures too.

Where it is stands in a file, so that it can be stopped and started again; each failure is shrunk and written
to the end of another.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from tests.property.cases import random_case
from tests.property.check import check
from tests.property.report import report
from tests.property.shrink import shrink
from tests.property.tally import Tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.property", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first one, where nothing was begun")
    parser.add_argument("--last", type=int, help="the last one")
    parser.add_argument("--pairs", type=int, default=20_000, help="of a view and a history, in all")
    parser.add_argument("--state", type=Path, default=Path("hunt.json"), help="where it is")
    parser.add_argument("--found", type=Path, default=Path("hunt.txt"), help="what it has found")
    options = parser.parse_args()
    state = json.loads(options.state.read_text()) if options.state.exists() else {"seed": options.seed}
    counts = (Counter(state.get(name, {})) for name in ("constructs", "refused", "compared", "answers"))
    tally = Tally(state.get("pairs", 0), *counts)
    failures: list[int] = state.get("failures", [])
    seed = state["seed"]
    while tally.pairs < options.pairs and (options.last is None or seed <= options.last):
        case, answers = random_case(seed)
        mismatch = check(case, answers, counted=tally.compared)
        tally.add(case, answers)
        if mismatch is not None:
            failures.append(seed)
            with options.found.open("a") as file:
                file.write(report(case, mismatch, *shrink(case, mismatch, check)) + "\n\n")
        seed += 1
        options.state.write_text(json.dumps({"seed": seed, "failures": failures, **vars(tally)}))
        print(f"seed {seed}, {tally.pairs} pairs, failures {failures}", flush=True)
    print(tally)
    return bool(failures)


if __name__ == "__main__":
    raise SystemExit(main())
