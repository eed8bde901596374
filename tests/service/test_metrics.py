"""Prometheus' exposition format."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from service.definitions.readable import Readable
from service.http.routes.operation_routes import failed
from service.metrics import Counter, Gauge, Histogram, Metrics


def test_counter() -> None:
    counter = Counter("c", "")
    assert list(counter.lines()) == ["c 0"]
    counter.add(2, (("code", 'a"b\\c\nd'),))
    counter.add(0.5, (("code", "x"),))
    assert list(counter.lines()) == ['c{code="a\\"b\\\\c\\nd"} 2', 'c{code="x"} 0.5']


def test_gauge_forgets_labels_that_are_gone() -> None:
    gauge = Gauge("g", "")
    assert list(gauge.lines()) == []
    gauge.set({(("relation", "a"),): 1, (("relation", "b"),): 2})
    gauge.set({(("relation", "b"),): 3})
    assert list(gauge.lines()) == ['g{relation="b"} 3']


def test_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram("h", "", (1.0, 2.5))
    for value in (0.5, 1.0, 2.0, 99.0):
        histogram.observe(value)
    assert list(histogram.lines()) == [
        'h_bucket{le="1"} 2',
        'h_bucket{le="2.5"} 3',
        'h_bucket{le="+Inf"} 4',
        "h_sum 102.5",
        "h_count 4",
    ]


def test_every_metric_is_described_once() -> None:
    lines = Metrics().text().splitlines()
    named = [line.split()[2] for line in lines if line.startswith("# HELP")]
    assert len(set(named)) == len(named) == len(vars(Metrics()))
    assert all(name.startswith("freshet_") for name in named)


def test_failed_views_are_named_wherever_their_failure_is_known() -> None:
    def relation(failure: str | None, aside: bool = False) -> Any:
        return SimpleNamespace(failure=failure, aside=aside)

    def view(name: str, failure: str | None = None) -> Any:
        return SimpleNamespace(name=name, failure=failure)

    relations = {
        "sound": relation(None),
        "over budget": relation("it needs more"),
        "set aside": relation("it needs longer", aside=True),
    }
    readable = Readable(
        cast(Any, SimpleNamespace(relations=relations)), cast(Any, None), {"from the catalog"}
    )
    failures = {"never planned": "no such function", "from the catalog": "it needs longer"}
    views = [view(name, failures.get(name)) for name in (*relations, *failures, "dropped")]
    assert failed(cast(Any, SimpleNamespace(readable=readable)), views) == ["never planned", "over budget"]
