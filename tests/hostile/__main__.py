"""`python -m tests.hostile [names]`: makes the attacks and prints what came of each, in Markdown.

The exit code is 1 if something is wrong that is not known to be wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.hostile.attacks import ATTACKS
from tests.hostile.hunt import HEADER, MIB, MOST, PATIENCE, Outcome, hunting


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of attacks; all without any")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds to wait for an answer")
    parser.add_argument("--memory", type=int, default=MOST // MIB, help="MiB at which the service is ended")
    parser.add_argument("--brief", action="store_true", help="only the attacks of the default tests")
    options = parser.parse_args()
    chosen = [
        attack
        for attack in ATTACKS
        if (not options.names or any(name in attack.name for name in options.names))
        and (attack.is_brief or not options.brief)
    ]
    if not chosen:
        parser.error("no attack has such a name")
    outcomes: list[Outcome] = []
    print(HEADER)
    with (
        tempfile.TemporaryDirectory(prefix="freshet-hostile-") as directory,
        hunting(Path(directory), options.patience, options.memory * MIB) as hunt,
    ):
        for attack in chosen:
            outcomes.append(hunt.outcome(attack))
            print(outcomes[-1], flush=True)
    harmed = [outcome for outcome in outcomes if outcome.harm]
    print(f"\n{len(outcomes) - len(harmed)} of {len(outcomes)} attacks did no harm.\n")
    for outcome in harmed:
        known = f" (known: {outcome.attack.wrong_today})" if outcome.attack.wrong_today else ""
        print(f"- {outcome.attack.name}: {outcome.harm}{known}")
    return 1 if any(not outcome.attack.wrong_today for outcome in harmed) else 0


if __name__ == "__main__":
    sys.exit(main())
