"""What became of the 99 queries, as a page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping

from tests.tpcds.maintained import Verdict

_HEAD = """# TPC-DS

The 99 queries of TPC-DS as views. `python -m tests.tpcds --write` made this page: it fetches the texts
(they are not part of this repository), registers each before there is any row, changes small random tables
for some epochs, and compares every view with DuckDB's answer from scratch at every epoch. Rows are the most
that a view had, changes the epochs at which they were not those of the epoch before. Where LIMIT cuts
between equal rows, the order of the whole row decides.
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
