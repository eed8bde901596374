"""The Python fixed point against DuckDB's own recursion, where both can answer, and against known answers."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.property.duck import Bag, Failure, Invalid, Referee
from tests.property.fixpoint import Diverges, iterate
from tests.property.histories import random_history, states
from tests.property.mutual import Mutuals
from tests.property.recursion import WIDEST, Binding, Recursion
from tests.property.schemas import Table, random_tables
from tests.property.terms import Term
from tests.property.views import relation_of
from tests.seeds import each_seed, few


def _recursion(limit: int | None, on_limit: str, *bodies: str) -> Recursion:
    bindings = tuple(
        Binding(f"r{i}", (("c0", "bigint"),), Term("query(int)", body)) for i, body in enumerate(bodies)
    )
    return Recursion(bindings, True, limit, on_limit)


@pytest.fixture
def referee():  # type: ignore[no-untyped-def]
    made = Referee(())
    yield made
    made.close()


TWO = ("SELECT 1 UNION ALL SELECT c0 + 1 FROM r1", "SELECT c0 * 10 FROM r0")


def test_the_explicit_form_updates_bindings_in_sequence(referee: Referee) -> None:
    assert iterate(referee, _recursion(2, "RETURN", *TWO)) is None
    assert referee.answer("SELECT * FROM r0") == Bag([(1,), (11,)])
    assert referee.answer("SELECT * FROM r1") == Bag([(10,), (110,)])


def test_plain_recursion_updates_all_bindings_together(referee: Referee) -> None:
    assert iterate(referee, replace(_recursion(3, "RETURN", *TWO), explicit=False)) is None
    assert referee.answer("SELECT * FROM r0") == Bag([(1,), (11,)])
    assert referee.answer("SELECT * FROM r1") == Bag([(10,)])


def test_a_limit_that_is_an_error(referee: Referee) -> None:
    body = "SELECT 1 UNION SELECT c0 + 1 FROM r0 WHERE c0 < 4"
    assert iterate(referee, _recursion(5, "ERROR", body)) is None
    assert iterate(referee, _recursion(4, "ERROR", body)) == Failure(
        "still changes after 4 rounds", limit=True
    )


def test_what_has_no_fixed_point_diverges(referee: Referee) -> None:
    with pytest.raises(Diverges):
        iterate(referee, _recursion(None, "RETURN", "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM r0)"))


def _linear(rng: random.Random, tables: tuple[Table, ...], referee: Referee) -> Term:
    """A random linear recursion that DuckDB takes."""
    while True:
        term, _ = Mutuals(rng, tuple(map(relation_of, tables))).linear(1)
        with suppress(Invalid):
            referee.types(term.sql("duckdb"))
            return term


@each_seed(few(25))
def test_linear_recursion_is_duckdbs(seed: int) -> None:
    rng = random.Random(seed)
    tables = random_tables(rng)
    referee = Referee(tables)
    term = _linear(rng, tables, referee)
    name, operator = (
        term.text.split("(")[0].split()[-1],
        " UNION ALL " if "UNION ALL" in term.text else " UNION ",
    )
    base, step, final = term.parts
    sorts = base.sort[6:-1].split(",")
    body = Term(base.sort, f"({{}}){operator}({{}})", (base, step))
    columns = tuple((f"c{i}", WIDEST[sort]) for i, sort in enumerate(sorts))
    for state in states(tables, random_history(rng, tables, 3)):
        referee.load(state)
        native = referee.answer(term.sql("duckdb"))
        if isinstance(native, Counter) and native.total() > referee.most_rows:
            continue  # which rows an answer is cut to is not told
        try:
            assert iterate(referee, Recursion((Binding(name, columns, body),))) is None
        except Diverges:  # more rows than are worth it: the next ones may be fewer
            continue
        assert referee.answer(final.sql("duckdb")) == native
    referee.close()
