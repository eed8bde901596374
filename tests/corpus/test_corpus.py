"""Every query of the corpus: its plan answers as DuckDB does, and so does its view while tables change."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.corpus.corpus import EMPTY, TABLES, queries_without_windows, sections
from tests.oracle.referee import transpiled
from tests.planner import samples
from tests.planner.samples import SCHEMAS
from tests.property.cases import Case, answers
from tests.property.check import check
from tests.property.histories import random_history
from tests.property.report import described
from tests.property.terms import Term
from tests.property.views import View
from tests.seeds import SEED

EPOCHS = 6


@pytest.mark.parametrize("sql", queries_without_windows())
def test_a_plan_answers_as_duckdb(sql: str) -> None:
    samples.check(sql)


@pytest.mark.parametrize("section", sections())
def test_views_answer_as_duckdb_at_every_epoch(section: str) -> None:
    history = random_history(random.Random(f"{section} {SEED}"), TABLES, EPOCHS)
    views = tuple(_view(f"v{place}", sql) for place, sql in enumerate(sections()[section]))
    case = Case(SEED, (*TABLES, EMPTY), views, history)
    expected = answers(case)
    assert expected.keys() == {view.name for view in views}, "DuckDB takes every query"
    counted: Counter[str] = Counter()
    mismatch = check(case, expected, counted=counted)
    assert mismatch is None, described(case, mismatch)
    assert counted["rows"] == len(views) * EPOCHS


def _view(name: str, sql: str) -> View:
    return View(name, Term("query", sql, (), transpiled(sql, SCHEMAS, "postgres")), ())
