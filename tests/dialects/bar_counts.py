"""What came of a bar, as figures: the files of `planner/dialects/bars`, and whether a dialect is proven."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from planner.dialects.standing import FOLDER, PROVEN, READ, Standing
from tests.dialects.bar_file import Bar, Decision, bar, dialects
from tests.dialects.topics import LEAST_EXPRESSIONS, LEAST_QUERIES, REQUIRED


def lacking(asked: Bar) -> list[str]:
    """What the bar lacks for its dialect to be proven."""
    queries = sum(entry.is_query for entry in asked.entries)
    expressions = len(asked.entries) - queries
    topics = {entry.topic for entry in asked.entries}
    return [
        *([f"{LEAST_EXPRESSIONS - expressions} expressions"] if expressions < LEAST_EXPRESSIONS else []),
        *([f"{LEAST_QUERIES - queries} queries"] if queries < LEAST_QUERIES else []),
        *(f"the topic {topic}" for topic in REQUIRED if topic not in topics),
    ]


def counted(asked: Bar) -> Standing:
    """The standing that a bar gives its dialect."""
    queries = sum(entry.is_query for entry in asked.entries)
    decided = Counter(entry.decision for entry in asked.entries)
    return Standing(
        asked.dialect,
        READ if lacking(asked) else PROVEN,
        asked.system,
        len(asked.entries) - queries,
        queries,
        decided[Decision.RIGHT],
        decided[Decision.DIFFERENT],
        decided[Decision.REFUSED],
    )


def files() -> dict[str, str]:
    """The texts of the files of `planner/dialects/bars`, by name."""
    standings = {dialect: asdict(counted(bar(dialect))) for dialect in dialects()}
    for standing in standings.values():
        del standing["dialect"]
    return {
        f"{dialect}.json": json.dumps(standing, indent=2) + "\n" for dialect, standing in standings.items()
    }


def write_files() -> None:
    for name, text in files().items():
        (FOLDER / name).write_text(text)
