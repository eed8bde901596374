"""What became of the 99 queries, as a page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping

from tests.tpcds.maintained import Verdict

_HEAD = """# TPC-DS

This page shows the 99 queries of TPC-DS as views. `python -m tests.tpcds --write` makes it: it fetches the
queries, which are not part of this repository, creates all views over empty tables, changes small random
tables for some epochs, and compares every view with DuckDB's answer from scratch at every epoch. Among the
rows that come and go are some that fit those queries which random rows never satisfy. *Rows* is the largest
number of rows that a view had, and *changes* the number of epochs that changed it. If LIMIT cuts between rows
that are equal in the order, the order of the whole row decides.
"""


def page(verdicts: Mapping[int, Verdict]) -> str:
    count = sum(1 for verdict in verdicts.values() if not verdict.refused and not verdict.wrong)
    lines = [_HEAD, f"{count} of {len(verdicts)} are maintained.", ""]
    lines += ["| query | | rows | changes |", "|---|---|---|---|"]
    for number, verdict in sorted(verdicts.items()):
        if verdict.refused:
            lines.append(f"| {number} | refused: {_cell(verdict.refused)} | | |")
        else:
            state = f"wrong: {_cell(verdict.wrong)}" if verdict.wrong else "maintained"
            lines.append(f"| {number} | {state} | {verdict.rows} | {verdict.changes} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
