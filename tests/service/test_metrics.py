"""Counters and histograms, and the views that count as failed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from prometheus_client import generate_latest

from service.definitions.readable import Readable
from service.http.routes.operation_routes import failed
from service.metrics import Counter, Histogram, Metrics


def lines(metric: Counter | Histogram) -> list[str]:
    """The samples of a metric as text."""
    alone: Any = SimpleNamespace(collect=lambda: [metric.family()])
    return [line for line in generate_latest(alone).decode().splitlines() if not line.startswith("#")]


def test_counter() -> None:
    assert lines(Counter("c_total", "")) == ["c_total 0.0"]
    counter = Counter("c_total", "", "code")
    assert lines(counter) == []
    counter.add(2, 'a"b\\c\nd')
    counter.add(0.5, "x")
    assert counter.value("x") == 0.5 and counter.value("y") == 0
    assert lines(counter) == ['c_total{code="a\\"b\\\\c\\nd"} 2.0', 'c_total{code="x"} 0.5']


def test_histogram_counts_up_to_each_bound() -> None:
    histogram = Histogram("h", "", "route", bounds=(1.0, 2.5))
    for value in (0.5, 1.0, 2.0, 99.0):
        histogram.observe(value, "/a")
    histogram.observe(3.0, "/b")
    assert [line for line in lines(histogram) if "/a" in line] == [
        'h_bucket{le="1.0",route="/a"} 2.0',
        'h_bucket{le="2.5",route="/a"} 3.0',
        'h_bucket{le="+Inf",route="/a"} 4.0',
        'h_count{route="/a"} 4.0',
        'h_sum{route="/a"} 102.5',
    ]
    assert lines(Histogram("h", "", bounds=(1.0,)))[:2] == [
        'h_bucket{le="1.0"} 0.0',
        'h_bucket{le="+Inf"} 0.0',
    ]


def test_every_metric_is_described_once() -> None:
    families = list(Metrics().collect())
    assert len({family.name for family in families}) == len(families) > 10
    for family in families:
        assert family.name.startswith("freshet_")
        assert family.documentation.endswith(".")


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
