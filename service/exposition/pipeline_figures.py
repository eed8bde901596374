"""What the pipeline has done, and how far its sources and sinks are behind."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import Metric
from sqlalchemy.exc import SQLAlchemyError

from service.exposition.families import Values, counters, gauges
from service.pipeline.pipeline import Pipeline
from service.pipeline.sinks import Sink
from service.pipeline.source import StreamingSource

_log = logging.getLogger("freshet.metrics")


@dataclass(frozen=True, eq=False)
class PipelineFigures:
    """A collector of Prometheus' client. At most `most` sources, and as many sinks, have series. `pipeline`
    finds none in a standby."""

    pipeline: Callable[[], Pipeline | None]
    most: int

    def collect(self) -> Iterator[Metric]:
        pipeline = self.pipeline()
        if pipeline is None:
            return
        yield from self._jobs(pipeline)
        session = pipeline.sessions.state
        yield gauges(
            "freshet_spark_session",
            "1 for the current state of Spark's session.",
            ("state",),
            {(session,): 1},
        )
        yield from self._sources(dict(list(pipeline.sources.all.items())[: self.most]))
        yield from self._sinks(dict(list(pipeline.sinks.all.items())[: self.most]), pipeline.upper - 1)

    def _jobs(self, pipeline: Pipeline) -> Iterator[Metric]:
        """The jobs, which are in the database. The other metrics are there without it."""
        try:
            counts: Values = {(kind, state): count for (kind, state), count in pipeline.jobs.counts().items()}
        except SQLAlchemyError as error:
            _log.warning("the metrics have no jobs, because the database does not answer: %s", error)
            return
        yield gauges("freshet_jobs", "Loads and exports kept, by kind and state.", ("kind", "state"), counts)

    def _sources(self, sources: Mapping[str, StreamingSource]) -> Iterator[Metric]:
        def each(value: Callable[[StreamingSource], float]) -> dict[tuple[str, ...], float]:
            return {(name,): value(source) for name, source in sources.items()}

        now = time.monotonic()
        yield gauges(
            "freshet_source_behind_seconds",
            "Time since a source first tried the files that it has not applied; 0 if there are none.",
            ("source",),
            each(lambda source: 0.0 if source.behind_since is None else now - source.behind_since),
        )
        yield gauges(
            "freshet_source_failed",
            "1 if a source has failed and has to be resumed.",
            ("source",),
            each(lambda source: source.progress.failure is not None),
        )
        yield counters(
            "freshet_source_rows_total",
            "Rows that a source has applied.",
            ("source",),
            each(lambda source: source.progress.rows),
        )
        yield counters(
            "freshet_source_skipped_rows_total",
            "Bad rows that a source has skipped.",
            ("source",),
            each(lambda source: source.progress.skipped),
        )

    def _sinks(self, sinks: Mapping[str, Sink], newest: int) -> Iterator[Metric]:
        def each(value: Callable[[Sink], float]) -> dict[tuple[str, ...], float]:
            return {(name,): value(sink) for name, sink in sinks.items()}

        yield gauges(
            "freshet_sink_behind_epochs",
            "Epochs that a sink has not looked at yet.",
            ("sink",),
            each(lambda sink: max(0, newest - (sink.progress.done or 0))),
        )
        yield gauges(
            "freshet_sink_failed",
            "1 if a sink has failed.",
            ("sink",),
            each(lambda sink: sink.progress.failure is not None),
        )
        yield counters(
            "freshet_sink_rows_total",
            "Rows in the files that a sink has written.",
            ("sink",),
            each(lambda sink: sink.progress.rows),
        )
