"""The registry of an app: all collectors that a scrape asks, and the text that it gets."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

from service.exposition.pipeline_figures import PipelineFigures
from service.exposition.relation_figures import RelationCollector
from service.exposition.state_figures import StateFigures
from service.http.feeds import Feeds
from service.pipeline.pipeline import Pipeline
from service.postgres.postgres_server import PostgresServer
from service.reading.queries import Queries
from service.reading.reads import Reader
from service.running.runtime import Runtime


def registry_of(
    runtime: Runtime,
    pipeline: Callable[[], Pipeline | None],
    reader: Reader,
    feeds: Feeds,
    queries: Queries,
    postgres: PostgresServer,
) -> CollectorRegistry:
    """A registry that looks at a running service whenever it is asked. Any thread may ask.

    `pipeline` finds none in a standby.
    """
    registry = CollectorRegistry(support_collectors_without_names=True)
    for collector in (
        runtime.metrics,
        StateFigures(runtime, reader, feeds, queries, postgres),
        RelationCollector(runtime),
        PipelineFigures(pipeline, runtime.settings.metrics_relations),
    ):
        registry.register(collector)
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry
