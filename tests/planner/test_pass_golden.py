"""What each pass does, before and after, as EXPLAIN shows it: `passes.t` has a query for each rule.

FRESHET_GOLDEN=write writes the texts anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner.bind import bind
from planner.explain.listing_formats import as_text
from planner.explain.relational import relational_listing
from planner.ir import RelationalProgram
from planner.parsing.parse import parse_query
from planner.passes import PASSES
from tests.planner.samples import catalog, check

FILE = Path(__file__).with_name("passes.t")
HEADING, BEFORE, AFTER = "# ", "\nbefore\n", "\nafter\n"


def cases() -> list[tuple[str, str, str]]:
    """The name of a pass, with what is special in the case after a colon; the query; both texts."""
    found = []
    for section in FILE.read_text().split(f"\n{HEADING}"):
        heading, _, rest = section.removeprefix(HEADING).partition("\n")
        sql, _, shown = rest.partition(BEFORE)
        found.append((heading, sql.strip(), shown.rstrip()))
    return found


CASES = cases()


def shown(program: RelationalProgram) -> str:
    text = as_text(relational_listing("optimized", program))
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())


def seen(name: str, sql: str) -> str:
    """The program before and after the first time that the pass changes it."""
    bound = bind(parse_query(sql), catalog(), "postgres")
    program = bound.program
    for each in PASSES:
        new = each.rewrite(program, bound.numbers)
        if each.name == name and shown(new) != shown(program):
            return f"{shown(program)}{AFTER}{shown(new)}".rstrip()
        program = new
    return "nothing changes"


@pytest.mark.parametrize(("heading", "sql", "expected"), CASES, ids=[heading for heading, _, _ in CASES])
def test_a_pass_does_what_it_says(heading: str, sql: str, expected: str) -> None:
    found = seen(heading.split(":")[0], sql)
    if os.environ.get("FRESHET_GOLDEN") == "write":
        texts = {h: f"{HEADING}{h}\n{s}\n{BEFORE}{e}\n" for h, s, e in cases()}
        texts[heading] = f"{HEADING}{heading}\n{sql}\n{BEFORE}{found}\n"
        FILE.write_text("\n".join(texts.values()))
    else:
        assert found == expected
    assert found != "nothing changes"
    if "now()" not in sql:
        check(sql)


def test_every_pass_is_shown() -> None:
    assert {heading.split(":")[0] for heading, _, _ in CASES} == {each.name for each in PASSES}
