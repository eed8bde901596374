"""What each table and view costs, how big it is, and how far behind.

The relations created first have series of their own, as many as FRESHET_METRICS_RELATIONS; the others have
one together. So a relation keeps its series as long as it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

from prometheus_client.core import Metric

from service.exposition.families import OTHER, bounded, counters, gauge, gauges
from service.running.relation_costs import RelationFigures, relation_figures
from service.running.runtime import Runtime

_LABELS = ("relation", "kind")


def _together(parts: list[RelationFigures]) -> RelationFigures:
    """The figures of those that have no series of their own."""
    return RelationFigures(
        OTHER,
        OTHER,
        sum(part.rows for part in parts),
        max(part.behind for part in parts),
        reduce(add, (part.upkeep for part in parts)),
    )


_EACH: tuple[tuple[Callable[..., Metric], str, str, Callable[[RelationFigures], float]], ...] = (
    (gauges, "freshet_rows", "Rows of each table and view at the newest epoch.", lambda it: it.rows),
    (
        gauges,
        "freshet_behind_epochs",
        "Epochs that a view does not have yet: it is being built, or has failed.",
        lambda it: it.behind,
    ),
    (
        counters,
        "freshet_upkeep_seconds_total",
        "Time that a table's or view's operators have taken; operators that views share count for each.",
        lambda it: it.upkeep.nanoseconds / 1e9,
    ),
    (
        counters,
        "freshet_upkeep_rows_total",
        "Rows that a table's or view's operators have made, those in between included.",
        lambda it: it.upkeep.rows,
    ),
    (
        counters,
        "freshet_relation_changes_total",
        "Rows added to a table or view, and rows taken from it.",
        lambda it: it.upkeep.changes,
    ),
    (
        gauges,
        "freshet_relation_memory_bytes",
        "Memory that a table's or view's history and operators hold.",
        lambda it: it.upkeep.memory,
    ),
    (
        gauges,
        "freshet_relation_mapped_bytes",
        "Bytes of files that a table's or view's history and operators have mapped.",
        lambda it: it.upkeep.mapped,
    ),
)
"""The families that have a value for each relation."""


@dataclass(frozen=True, eq=False)
class RelationCollector:
    """A collector of Prometheus' client."""

    runtime: Runtime

    def collect(self) -> Iterator[Metric]:
        readable = self.runtime.readable
        definitions = readable.known.all.values()
        views = [definition for definition in definitions if definition.is_view]
        bad = sum(readable.has_failed(view) for view in views)
        yield gauge("freshet_tables", "Tables defined.", len(definitions) - len(views))
        yield gauges(
            "freshet_views",
            "Views defined, by state.",
            ("state",),
            {("running",): len(views) - bad, ("failed",): bad},
        )
        most = self.runtime.settings.metrics_relations
        found = bounded(relation_figures(self.runtime), most, _together)
        for make, name, meaning, value in _EACH:
            yield make(name, meaning, _LABELS, {(it.name, it.kind): value(it) for it in found})
