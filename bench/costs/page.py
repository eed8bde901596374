"""The tables of docs/costs.md: estimates beside the truth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bench.costs.run import Foretold, is_near
from bench.table import duration, markdown

NAME = "costs.md"
_HEADER = (
    "view",
    "time",
    "estimated",
    "ratio",
    "memory",
    "estimated",
    "ratio",
    "rows",
    "estimated",
    "estimate took",
)
_BEGIN, _END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def text(found: Sequence[Foretold]) -> str:
    """The tables of all suites, each with the part of its views that was foretold within a factor of two."""
    suites = list(dict.fromkeys(one.suite for one in found))
    return "\n".join(_suite(name, [one for one in found if one.suite == name]) for name in suites)


def write(page: Path, facts: str, found: Sequence[Foretold]) -> None:
    """Put the tables into the page, in place of those that it has."""
    between = re.compile(f"(?<={_BEGIN}).*(?={_END})", re.DOTALL)
    page.write_text(between.sub(lambda _: f"\n{facts}\n\n{text(found)}\n", page.read_text()))


def _suite(name: str, found: Sequence[Foretold]) -> str:
    built = [one for one in found if not one.refusal]
    refused = [f"{one.name} ({one.refusal})" for one in found if one.refusal]
    times, memories = (
        sum(is_near(ratio) for ratio in ratios)
        for ratios in ([one.time_ratio for one in built], [one.memory_ratio for one in built])
    )
    lines = [
        f"### {name}",
        "",
        f"Of {len(built)} views, the time of {times} ({_percent(times, built)}) and the memory of {memories} "
        f"({_percent(memories, built)}) were foretold within a factor of two.",
        *([f"Not built: {'; '.join(refused)}."] if refused else []),
        "",
        markdown([_line(one) for one in built], _HEADER),
        "",
    ]
    return "\n".join(lines)


def line(one: Foretold) -> str:
    """A view's figures for the terminal."""
    return (
        f"{one.suite} {' | '.join(_line(one))}"
        if not one.refusal
        else f"{one.suite} {one.name}: {one.refusal}"
    )


def _percent(count: int, of: Sequence[Foretold]) -> str:
    return f"{100 * count / max(len(of), 1):.0f} %"


def _line(one: Foretold) -> tuple[str, ...]:
    return (
        one.name,
        duration(one.true_seconds),
        duration(one.seconds),
        f"{one.time_ratio:.2f}",
        _bytes(one.true_bytes),
        f"{'at least ' if one.is_least else ''}{_bytes(one.bytes)}",
        f"{one.memory_ratio:.2f}",
        f"{one.true_rows:,.0f}",
        f"{one.rows:,.0f}",
        duration(one.took),
    )


def _bytes(count: float) -> str:
    return f"{count / 1e6:.3f} MB"
