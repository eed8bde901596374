"""`python -m tests.dialects DIALECT` shows the entries of a bar that are not as they say; `--write` writes
the figures and the pages of all bars."""

from __future__ import annotations

import argparse

from tests.dialects.bar_counts import counted, lacking, write_files
from tests.dialects.bar_file import bar, dialects
from tests.dialects.bar_pages import write_pages
from tests.dialects.bar_run import shown, verdicts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.dialects", description=__doc__)
    parser.add_argument("dialect", nargs="*", choices=[[], *dialects()], help="judge these dialects")
    parser.add_argument("--write", action="store_true", help="write the figures and the pages")
    chosen = parser.parse_args()
    for dialect in chosen.dialect:
        _judge(dialect)
    if chosen.write:
        write_files()
        write_pages()


def _judge(dialect: str) -> None:
    asked = bar(dialect)
    for verdict in verdicts(asked):
        if verdict.fault:
            entry = verdict.entry
            print(f"{dialect}.bar:{entry.line}: {verdict.fault}\n  {entry.sql}")
            print(f"  there: {entry.rows}\n  here:  {shown(verdict.given, asked.truth, entry.is_query)}")
    known = counted(asked)
    print(f"{dialect}: {known.expressions} expressions, {known.queries} queries")
    print(f"  {known.right} right, {known.different} different, {known.refused} refused")
    print(f"  missing: {', '.join(lacking(asked)) or 'nothing'}")


if __name__ == "__main__":
    main()
