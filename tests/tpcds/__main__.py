"""TPC-DS as views: `python -m tests.tpcds` says which of the 99 queries are maintained, and why not others.

Every query is registered before there is any row; then random changes come, and at every epoch every view is
compared with DuckDB's answer from scratch. `--write` puts the table into docs/tpcds.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.tpcds.maintained import random_history, verdicts
from tests.tpcds.page import page
from tests.tpcds.texts import fetched

PAGE = Path(__file__).parents[2] / "docs" / "tpcds.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tpcds", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the rows")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--queries", type=int, nargs="*", help="only these numbers")
    parser.add_argument("--texts", type=Path, help="directory with sqlglot's source distribution, or for it")
    parser.add_argument("--write", action="store_true", help="write docs/tpcds.md")
    options = parser.parse_args()
    queries = fetched(options.texts)
    queries = {number: queries[number] for number in options.queries or queries}
    found = verdicts(queries, random_history(queries, options.seed, options.epochs))
    text = page(found)
    print(text)
    if options.write:
        PAGE.write_text(text)
    return any(verdict.wrong or not verdict.rows for verdict in found.values())


if __name__ == "__main__":
    raise SystemExit(main())
