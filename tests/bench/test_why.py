"""The benchmark of explanations, in miniature."""

from __future__ import annotations

from bench import why
from bench.costs.subjects import SUBJECTS
from bench.suite.tpch.queries import QUERIES


def test_rows_of_views_are_asked_for() -> None:
    subject = SUBJECTS["tpch"](0.001, None)
    chosen = {name: QUERIES[name] for name in ("q01", "q04", "q11", "q22")}
    figures = list(why.measured(subject.engine, dict(subject.relations), chosen, 2))
    assert [each.view for each in figures] == list(chosen)
    assert all(len(each.taken) == min(2, each.rows) and not each.refused for each in figures)
    shown = why.text({"TPC-H": figures})
    assert "| q01" in shown
    assert all((f"| {each.view} " in shown) == bool(each.rows) for each in figures)
