"""What only a service that leads has: the writer, and the work beside it.

A standby gets it when it takes over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.definitions.altering import Alterations
from service.definitions.definition import Definition
from service.running.builds import Builds, BuildThreads
from service.running.checkpoints import Checkpoints
from service.running.followed_queries import FollowedQueries
from service.running.index_builds import IndexBuilds
from service.running.large_requests import LargeRequests
from service.running.pivoted_views import PivotedViews
from service.running.replacements import Replacements
from service.running.state import State
from service.running.view_checks import ViewChecks
from service.writing.writer import Writer, WriterLimits


@dataclass(frozen=True, eq=False)
class Leading:
    alterations: Alterations
    checkpoints: Checkpoints
    writer: Writer
    builds: Builds
    indexes: IndexBuilds
    large: LargeRequests
    checks: ViewChecks
    queries: FollowedQueries
    replacements: Replacements
    pivoted: PivotedViews

    @classmethod
    def of(cls, state: State, show: Callable[[], None], after: Callable[[], None]) -> Leading:
        """`show` and `after` are as for `Writer`."""
        settings = state.settings
        limits = WriterLimits(settings.queue_requests, settings.queue_changes, settings.group_changes)
        writer = Writer(state.epochs, limits, show, after, state.metrics.queue_seconds)
        builds = Builds(state, writer.call, BuildThreads(settings))
        replacements = Replacements(state, builds, writer)
        return cls(
            Alterations(state.definitions),
            Checkpoints(state),
            writer,
            builds,
            IndexBuilds(state, writer.call, builds.threads.turns),
            LargeRequests(state, writer.call),
            ViewChecks(state, writer.call, builds.threads.turns),
            FollowedQueries(state, builds, writer),
            replacements,
            PivotedViews(state, builds, writer, replacements),
        )

    def cancel_dropped(self, known: Mapping[str, Definition]) -> None:
        """Cancels the building of views that are gone."""
        self.builds.cancel_dropped(known)
        self.replacements.cancel_dropped(known)

    def close(self) -> None:
        """Finishes waiting requests and writes a checkpoint. Blocks."""
        self.pivoted.stop()
        self.queries.close()
        self.replacements.close()
        self.checks.close()
        self.builds.close()
        self.builds.threads.close()
        self.indexes.close()
        self.large.close()
        self.checkpoints.stop()
        self.writer.close()
        self.checkpoints.finish()
