"""The bars of the dialects: each answer is the manual's, or decided on; figures and pages are theirs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from engine.schema import (
    BOOLEAN,
    BYTEA,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    Type,
    array_of,
    numeric,
)
from planner.dialects.standing import FOLDER as FIGURES
from planner.dialects.standing import READ, standing_of
from tests.dialects.bar_cells import says, written
from tests.dialects.bar_counts import counted, files, lacking
from tests.dialects.bar_file import Bar, Decision, bar, dialects, read_bar
from tests.dialects.bar_pages import BY_HAND, pages
from tests.dialects.bar_pages import FOLDER as PAGES
from tests.dialects.bar_run import shown, verdicts
from tests.seeds import third


def asked_now(dialect: str) -> Bar:
    """A bar with the entries that this run asks: all that are decided on, and a third of the others."""
    whole = bar(dialect)
    now = set(third([entry.line for entry in whole.entries if entry.decision is Decision.RIGHT]))
    return replace(
        whole, entries=tuple(e for e in whole.entries if e.decision is not Decision.RIGHT or e.line in now)
    )


@pytest.mark.parametrize("dialect", dialects())
def test_every_answer_is_the_manuals_or_decided_on(dialect: str) -> None:
    asked = asked_now(dialect)
    faults = [
        f"{dialect}.bar:{verdict.entry.line}: {verdict.entry.sql}: {verdict.fault}, but\n"
        f"{shown(verdict.given, asked.truth, verdict.entry.is_query)}"
        for verdict in verdicts(asked)
        if verdict.fault
    ]
    assert not faults, "\n".join([f"{len(faults)} faults", *faults])


@pytest.mark.parametrize("dialect", dialects())
def test_an_entry_is_asked_once(dialect: str) -> None:
    repeated = [sql for sql, count in Counter(e.sql for e in bar(dialect).entries).items() if count > 1]
    assert not repeated


def test_the_figures_are_those_of_the_bars() -> None:
    """`python -m tests.dialects --write` writes them."""
    assert {path.name: path.read_text() for path in FIGURES.glob("*.json")} == files()


def test_the_pages_are_those_of_the_bars() -> None:
    found = {path.name: path.read_text() for path in PAGES.glob("*.md") if path.name != BY_HAND}
    assert found == pages()


def test_a_dialect_without_a_bar_is_read() -> None:
    assert standing_of("teradata").standing == READ
    assert standing_of("postgres, normalization_strategy = uppercase").standing == READ
    assert "not proven" in (standing_of("teradata").notice or "")


def test_a_bar_lacks_what_nobody_has_asked() -> None:
    asked = read_bar("sqlite", HEAD + "[limit] p: S\n1 => 1\n")
    missing = lacking(asked)
    assert missing[:2] == ["199 expressions", "60 queries"]
    assert "the topic pivot" in missing and "the topic limit" not in missing
    assert counted(asked).standing == READ


HEAD = """system: S
manual: https://example.org/
truth: 1 0

CREATE TABLE t (a INTEGER, b TEXT);
1 | 'x | y'
2 | NULL

"""


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("1 + 1 => 2", ""),
        ("1 + 1 => 3", "it is not as the manual says"),
        ("1 + 1 => 3\n~> 2\ndifferent: a reason", ""),
        ("1 + 1 => 3\n~> 4\ndifferent: a reason", "it is not as the decision says"),
        ("1 + 1 => 2\n~> 2\ndifferent: a reason", "it is as the manual says: the decision is stale"),
        ("1 + 1 => 2\nrefused: unsupported_sql: a reason", "it is as the manual says: the decision is stale"),
        ("nothing(1) => 2\nrefused: unknown_function: a reason", ""),
        ("nothing(1) => 2\nrefused: unsupported_sql: a reason", "it is not refused as unsupported_sql"),
        ("nothing(1) => error", ""),
        ("1 => error\n~> 1\ndifferent: a reason", ""),
        ("nothing(1) => 2\n~> error\ndifferent: a reason", ""),
        ("1 = 1 => 1", ""),
        ("1 = 1 => 0", "it is not as the manual says"),
        ("SELECT b, a FROM t\n=> b | a INTEGER\n-> NULL | 2\n-> 'x | y' | 1", ""),
        ("SELECT b, a FROM t\n=> *\n-> NULL | 2\n-> 'x | z' | 1", "it is not as the manual says"),
        ("SELECT b, a FROM t\n=> b | a TEXT\n-> NULL | 2\n-> 'x | y' | 1", "it is not as the manual says"),
        ("SELECT b, a FROM t\n=> *\n-> NULL | 2", "it is not as the manual says"),
        ("SELECT b\nFROM t WHERE a > 2\n=> b", ""),
        ("SELECT b FROM nowhere\n=> error", ""),
    ],
)
def test_an_entry_is_judged(entry: str, fault: str) -> None:
    (verdict,) = verdicts(read_bar("postgres", f"{HEAD}[limit] p: S\n{entry}\n"))
    assert verdict.fault == fault


@pytest.mark.parametrize(
    "text",
    [
        "[weather] p: S\n1 => 1",
        "[limit] p: S\n=> a",
        "[limit] p: S\nSELECT 1",
        "[limit] p: S\n1 => 2\nrefused: unsupported_sql",
        "some words",
    ],
)
def test_a_mistake_in_a_file_is_found(text: str) -> None:
    with pytest.raises(ValueError, match=r"sqlite\.bar:\d+: "):
        read_bar("sqlite", f"{HEAD}{text}\n")


@pytest.mark.parametrize(
    ("cell", "value", "type", "is_said"),
    [
        ("2.5", "2.50", numeric(3, 2), True),
        ("0.333333", 1 / 3, DOUBLE, True),
        ("0.333334", 1 / 3, DOUBLE, False),
        ("0.33", 1 / 3, DOUBLE, False),
        ("3", 4, INTEGER, False),
        ("Infinity", "Infinity", DOUBLE, True),
        ("NULL", None, TEXT, True),
        ("'NULL'", None, TEXT, False),
        ("'NULL'", "NULL", TEXT, True),
        ("''", "", TEXT, True),
        ("'it''s'", "it's", TEXT, True),
        (r"e'a\nb'", "a\nb", TEXT, True),
        ("'1'", 1, INTEGER, False),
        ("t", True, BOOLEAN, True),
        ("2024-02-29 01:00:00+01", "2024-02-29T00:00:00Z", TIMESTAMPTZ, True),
        ("2024-02-29 00:00:00.1", "2024-02-29T00:00:00.100000", TIMESTAMP, True),
        ("2024-02-29", "2024-02-29T00:00:00", TIMESTAMP, False),
        ("1 year 2 mons 01:00:00", "P1Y2MT1H", INTERVAL, True),
        ("30 days", "P1M", INTERVAL, False),
        (r"\x6162", "YWI=", BYTEA, True),
        ('{"a": [1]}', {"a": [1]}, JSON, True),
        ('["a", null]', ["a", None], array_of(TEXT), True),
        ('["a", null]', [None, "a"], array_of(TEXT), False),
    ],
)
def test_a_cell_says_a_value(cell: str, value: object, type: Type, is_said: bool) -> None:
    assert says(cell, value, type, ("t", "f")) == is_said
    assert says(written(value, type, ("t", "f")), value, type, ("t", "f"))
