"""How fresh the service is, what waits in it, and how big it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version

from prometheus_client.core import Metric
from sqlalchemy.exc import SQLAlchemyError

from service.exposition.families import gauge, gauges
from service.http.feeds import Feeds
from service.postgres.postgres_server import PostgresServer
from service.reading.queries import Queries
from service.reading.reads import Reader
from service.running.process_memory import anonymous_bytes, resident_bytes
from service.running.runtime import Runtime


@dataclass(frozen=True, eq=False)
class StateFigures:
    """A collector of Prometheus' client."""

    runtime: Runtime
    reader: Reader
    feeds: Feeds
    queries: Queries
    postgres: PostgresServer

    def collect(self) -> Iterator[Metric]:
        yield from self._freshness()
        yield from self._waiting()
        yield from self._size()
        yield gauges(
            "freshet_build_info",
            "1 for the version that runs.",
            ("version",),
            {(version("freshet"),): 1},
        )

    def _freshness(self) -> Iterator[Metric]:
        runtime = self.runtime
        yield gauge("freshet_epoch", "The newest epoch.", runtime.snapshot.upper - 1)
        age = max(0.0, time.time() - runtime.newest_time / 1_000_000) if runtime.newest_time else 0.0
        yield gauge("freshet_epoch_age_seconds", "Time since the newest epoch was committed.", age)
        yield gauge("freshet_leads", "1 in a service that leads, 0 in a standby.", runtime.leads)
        with suppress(SQLAlchemyError):  # only the catalog knows it, and the other metrics are there without
            lag = runtime.lag()
            yield gauge(
                "freshet_lag_epochs", "Epochs that a standby has still to follow; 0 in the leader.", lag
            )
        yield gauge(
            "freshet_oldest_waiting_seconds",
            "Time since the request came that the writer has in hand; 0 if none waits.",
            runtime.oldest_waiting,
        )

    def _waiting(self) -> Iterator[Metric]:
        runtime = self.runtime
        yield gauge("freshet_writer_running", "1 if changes can be made.", runtime.is_running)
        yield gauge(
            "freshet_waiting_requests",
            "Requests and jobs that wait for the writer or are in its hand.",
            runtime.waiting,
        )
        yield gauge(
            "freshet_waiting_changes",
            "Changes of tables that wait for the writer or are in its hand.",
            runtime.waiting_changes,
        )
        yield gauge("freshet_waiting_queries", "Ad-hoc queries that wait.", self.queries.waiting)
        yield gauge("freshet_builds", "Views that are being built.", len(runtime.builds))
        branches = runtime.branches.all.values() if runtime.leads else ()
        yield gauge("freshet_branches", "Branches that there are.", len(branches))
        yield gauges(
            "freshet_branch_bytes",
            "What branches hold besides their parents' state.",
            ("branch",),
            {(branch.name,): branch.departed for branch in branches},
        )
        yield gauge("freshet_feeds", "Changefeeds that are open as event streams.", self.feeds.open)
        yield gauge(
            "freshet_postgres_open_connections",
            "Connections of PostgreSQL's clients that are open.",
            self.postgres.open,
        )

    def _size(self) -> Iterator[Metric]:
        runtime = self.runtime
        log_bytes, log_commits = runtime.log
        yield gauge(
            "freshet_log_unsaved_bytes", "Bytes of the log that no checkpoint replaces yet.", log_bytes
        )
        yield gauge(
            "freshet_log_unsaved_commits", "Commits of the log that no checkpoint replaces yet.", log_commits
        )
        yield gauge(
            "freshet_resident_memory_bytes",
            "Resident memory of the process, files included.",
            resident_bytes(),
        )
        yield gauge(
            "freshet_anonymous_memory_bytes", "Memory of the process that is in no file.", anonymous_bytes()
        )
        yield gauge(
            "freshet_memory_high_bytes",
            "The mark of anonymous memory above which nothing large begins.",
            runtime.memory.high,
        )
        held = runtime.held()
        kinds = {
            "history": held.history,
            "traces": held.traces,
            "mapped": held.mapped,
            "dictionary": held.dictionary,
            "remembered": held.remembered,
            "reading": self.reader.bytes,
        }
        yield gauges(
            "freshet_held_bytes",
            "What the service holds, by kind.",
            ("kind",),
            {(kind,): size for kind, size in kinds.items()},
        )
        yield gauge("freshet_texts", "Texts in the dictionary.", held.texts)
        placement = runtime.placement
        if placement is not None:
            yield gauges(
                "freshet_advances",
                "Passes of the engine, by where they were computed.",
                ("where",),
                {("process",): placement.tally.process, ("spark",): placement.tally.spark},
            )
