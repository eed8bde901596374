"""The long hunt: `python -m tests.property` checks random views from seed to seed; each failure is shrunk."""

from __future__ import annotations

from collections import Counter

from tests.hunting import Hunt, hunt_parser
from tests.property.cases import random_case
from tests.property.check import check
from tests.property.report import report
from tests.property.shrink import shrink
from tests.property.tally import Tally


def main() -> int:
    parser = hunt_parser("tests.property", __doc__, "hunt")
    parser.add_argument("--pairs", type=int, default=20_000, help="of a view and a history, in all")
    options = parser.parse_args()
    hunt = Hunt(options)
    counts = (Counter(hunt.known.get(name, {})) for name in ("constructs", "refused", "compared", "answers"))
    tally = Tally(hunt.known.get("pairs", 0), *counts)
    failures: list[int] = hunt.known.get("failures", [])
    for seed in hunt.seeds():
        if tally.pairs >= options.pairs:
            break
        case, answers = random_case(seed)
        mismatch = check(case, answers, counted=tally.compared)
        tally.add(case, answers)
        if mismatch is not None:
            failures.append(seed)
            hunt.note(report(case, mismatch, *shrink(case, mismatch, check)))
        hunt.keep({"failures": failures, **vars(tally)}, f"{tally.pairs} pairs, failures {failures}")
    print(tally)
    return bool(failures)


if __name__ == "__main__":
    raise SystemExit(main())
