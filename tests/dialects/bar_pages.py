"""The documents of the bars: a page for each dialect, and the table over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from planner.dialects.standing import PROVEN, standings
from tests.dialects.bar_counts import counted, lacking
from tests.dialects.bar_file import ERROR, Bar, Decision, Entry, Row, bar, dialects
from tests.dialects.topics import LEAST_EXPRESSIONS, LEAST_QUERIES, TOPICS

FOLDER = Path(__file__).parents[2] / "docs" / "dialects"
TABLE, BY_HAND = "README.md", "upstream.md"
"""The page of the table, and the one that is no bar's: the list for sqlglot."""
_MADE = "<!-- `python -m tests.dialects --write` makes this page from tests/dialects/bars. -->"
_INTRODUCTION = f"""{_MADE}
# Dialects

A text can be in any of these dialects. A dialect is *proven* if at least {LEAST_EXPRESSIONS} expressions and
{LEAST_QUERIES} queries of its system's own manual, chosen from the first page of its functions to the last,
have the manual's answer here, or are on the dialect's page with the reason why they differ or are refused.
A dialect that is only *read* can be parsed, but nobody has compared its answers with a manual: a view in it
comes with a notice. `GET /v1/dialects` has this table too.

| dialect | standing | system | expressions | queries | right | different | refused |
|---|---|---|---|---|---|---|---|"""


def pages() -> dict[str, str]:
    """The texts of the pages by their names in `docs/dialects`."""
    found = {f"{dialect}.md": _page(bar(dialect)) for dialect in dialects()}
    found[TABLE] = "\n".join([_INTRODUCTION, *_table()]) + "\n"
    return found


def write_pages() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text)


def _table() -> Iterator[str]:
    asked = dialects()
    for name, known in standings().items():
        if name in asked:
            known = counted(bar(name))
            shown = [known.expressions, known.queries, known.right, known.different, known.refused]
            yield _line([f"[`{name}`]({name}.md)", known.standing, known.system, *shown])
        else:
            yield _line([f"`{name}`", known.standing, *[""] * 6])


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _page(asked: Bar) -> str:
    known = counted(asked)
    tried = f"{known.expressions} expressions and {known.queries} queries"
    lines = [
        _MADE,
        f"# {asked.system}",
        "",
        f"The dialect `{asked.dialect}` is {known.standing}. Of {tried} of the [manual]({asked.manual}),",
        f"{known.right} have the manual's answer, {known.different} differ and {known.refused} are refused.",
    ]
    if asked.truth != ("true", "false"):
        printed = " and ".join(map(_code, asked.truth))
        lines += ["", f"{asked.system} prints true and false as {printed}; here they are BOOLEAN."]
    if known.standing != PROVEN:
        lines += ["", f"It is not proven yet; it lacks {', '.join(lacking(asked))}."]
    lines += [
        "",
        "## By topic",
        "",
        "| topic | tried | right | different | refused |",
        "|---|---|---|---|---|",
    ]
    lines += _topics(asked)
    lines += _decided(asked, Decision.DIFFERENT, "What differs", ("there", "here", "why"), _differing)
    lines += _decided(asked, Decision.REFUSED, "What is refused", ("there", "why"), _refused)
    return "\n".join(lines) + "\n"


def _topics(asked: Bar) -> Iterator[str]:
    for topic, title in TOPICS.items():
        mine = [entry.decision for entry in asked.entries if entry.topic == topic]
        if mine:
            yield _line([title, len(mine), *(mine.count(decision) for decision in Decision)])


def _decided(
    asked: Bar,
    decision: Decision,
    title: str,
    columns: tuple[str, ...],
    cells: Callable[[Entry], list[str]],
) -> list[str]:
    """A section with the entries of a decision, by their topic; nothing if there are none."""
    mine = [entry for entry in asked.entries if entry.decision is decision]
    if not mine:
        return []
    order = list(TOPICS)
    mine.sort(key=lambda entry: (order.index(entry.topic), entry.line))
    lines = ["", f"## {title}"]
    for topic, entries in groupby(mine, key=lambda entry: entry.topic):
        lines += ["", f"### {TOPICS[topic][:1].upper()}{TOPICS[topic][1:]}", ""]
        lines += [_line(["", *columns]), "|---" * (len(columns) + 1) + "|"]
        lines += [_line([_code(entry.sql), *cells(entry)]) for entry in entries]
    return lines


def _differing(entry: Entry) -> list[str]:
    return [_rows(entry.rows), _rows(entry.ours), entry.reason]


def _refused(entry: Entry) -> list[str]:
    return [_rows(entry.rows), f"{entry.reason} (`{entry.code}`)"]


def _rows(rows: tuple[Row, ...] | None) -> str:
    if rows is None:
        return ERROR
    return "<br>".join(", ".join(_code(cell) for cell in row) for row in rows) or "no rows"


def _code(text: str) -> str:
    """Text as code in a cell of a table."""
    text = " ".join(text.split()).replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"
