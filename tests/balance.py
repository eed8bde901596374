"""How tests are divided over processes: by file, the longest first, and those of Spark together.

A unit of work is a file, for its tests share what they set up. One process runs all that uses the session of
Spark that tests share, so that there is one Java for it, and one all of the console, for its browser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

SPARK = "spark"
CONSOLE = "tests/console/"
OF_SPARK = frozenset(
    {
        "tests/service/test_constraints.py",
        "tests/service/test_exports.py",
        "tests/service/test_jobs.py",
        "tests/service/test_loads.py",
        "tests/service/test_local_loads.py",
        "tests/service/test_outside.py",
        "tests/service/test_sources.py",
        "tests/spark/test_fetched_rows.py",
        "tests/spark/test_kills.py",
        "tests/spark/test_random_views.py",
        "tests/spark/test_session.py",
    }
)
"""The files with tests that ask for the fixture `sessions`."""
LONG = (
    SPARK,
    CONSOLE,
    "tests/service/test_source_kill.py",
    "tests/dialects/test_bars.py",
    "tests/hostile/test_hostile.py",
    "tests/client/test_embedded.py",
    "tests/service/test_functions.py",
    "tests/service/test_builds.py",
    "tests/service/test_standby.py",
    "tests/test_wheel.py",
    "tests/planner/test_planning_limits.py",
    "tests/service/test_kill.py",
    "tests/service/test_memory.py",
    "tests/service/test_connections.py",
    "tests/property/test_views.py",
    "tests/corpus/test_corpus.py",
    "tests/service/test_query_workers.py",
    "tests/bench/test_bench.py",
    "tests/service/test_altering.py",
    "tests/service/test_start.py",
    "tests/service/test_valid_time.py",
    "tests/service/test_pivoted_views.py",
    "tests/pgwire/test_time_zones.py",
    "tests/property/test_rewritten.py",
    "tests/planner/test_temporal.py",
    "tests/service/test_sql.py",
    "tests/examples/test_debian.py",
    "tests/service/test_recovery.py",
    "tests/engine/supersteps/test_retries.py",
    "tests/service/test_replacements.py",
    "tests/examples/test_demo.py",
    "tests/service/test_kept_views.py",
    "tests/forked/test_forked.py",
    "tests/examples/test_warehouses.py",
    "tests/postgres/test_spellings.py",
    "tests/engine/test_parallel.py",
    "tests/service/test_schemas.py",
    "tests/dialects/test_bars_in_queries.py",
    "tests/bench/test_wire.py",
    "tests/service/test_kill_storage.py",
    "tests/property/test_nested_types.py",
    "tests/planner/test_long_texts.py",
    "tests/service/test_leadership.py",
    "tests/service/test_sql_workers.py",
    "tests/service/test_why_random.py",
    "tests/engine/scalar/test_against_duckdb.py",
    "tests/suites/test_supersteps.py",
    "tests/bench/test_bulk.py",
    "tests/service/test_branch_views.py",
    "tests/property/test_windows.py",
    "tests/service/test_app.py",
    "tests/service/test_sql_parameters.py",
    "tests/service/test_what_if.py",
    "tests/client/test_command_line.py",
    "tests/engine/kernels/test_compiled.py",
    "tests/docs/test_sql.py",
    "tests/engine/test_nursery.py",
    "tests/engine/test_random_dataflows.py",
    "tests/test_balance.py",
    "tests/engine/operators/test_intern.py",
    "tests/service/test_live_branches.py",
    "tests/service/test_deadline.py",
    "tests/property/test_generator.py",
    "tests/service/test_feeds.py",
    "tests/pgwire/test_tools.py",
    "tests/property/test_valid_time.py",
    "tests/docs/test_readme.py",
    "tests/suites/test_tpch.py",
    "tests/property/test_asof.py",
    "tests/service/test_replacing_views.py",
    "tests/bench/test_curves.py",
    "tests/service/test_constraints_random.py",
    "tests/dialects/test_random_queries.py",
    "tests/bench/test_endurance.py",
    "tests/service/test_drafts.py",
    "tests/service/test_added_labels.py",
    "tests/planner/test_dates.py",
    "tests/planner/test_functions.py",
    "tests/postgres/test_working_tables.py",
    "tests/service/test_backups.py",
    "tests/service/test_large_epochs.py",
    "tests/property/test_top.py",
    "tests/postgres/test_statements.py",
    "tests/property/test_aggregates.py",
    "tests/service/test_row_queries.py",
    "tests/service/test_picked_rows.py",
    "tests/planner/test_formats.py",
    "tests/service/test_window_clauses.py",
    "tests/service/test_literal_shapes.py",
    "tests/bench/test_new_view.py",
    "tests/engine/test_children.py",
    "tests/service/test_rows.py",
    "tests/service/test_sql_formats.py",
    "tests/engine/costs/test_estimating.py",
    "tests/planner/test_result_types.py",
    "tests/planner/test_stability.py",
    "tests/postgres/test_views.py",
    "tests/service/test_why.py",
    "tests/property/test_unnest.py",
    "tests/service/test_changes.py",
    "tests/service/test_moment_texts.py",
    "tests/client/test_tables.py",
    "tests/property/test_wide_numbers.py",
    "tests/engine/operators/test_window.py",
    "tests/service/test_watermarks.py",
    "tests/service/test_authorization.py",
    "tests/tpcds/test_tpcds.py",
    "tests/postgres/test_special_numbers.py",
    "tests/engine/test_trace.py",
    "tests/bench/test_sizing.py",
    "tests/suites/test_nexmark.py",
    "tests/property/test_metamorphic.py",
    "tests/service/test_branch_sql.py",
    "tests/engine/kernels/test_compiling_apart.py",
    "tests/pgcatalog/test_tools.py",
    "tests/service/test_why_not.py",
    "tests/engine/test_stretches.py",
    "tests/engine/supersteps/test_random_views.py",
    "tests/engine/scalar/test_interrupting.py",
    "tests/service/test_point_reads.py",
    "tests/service/test_tables.py",
    "tests/service/test_pivot_lists.py",
    "tests/test_rooms.py",
    "tests/service/test_lying_backups.py",
    "tests/postgres/test_search_cycle.py",
    "tests/pgwire/test_copying.py",
    "tests/engine/test_fingerprint.py",
    "tests/service/test_openapi.py",
    "tests/golden/test_golden.py",
    "tests/service/test_sequences.py",
    "tests/service/test_strict.py",
    "tests/service/test_sinks.py",
    "tests/property/test_sequences.py",
    "tests/service/test_branch_periods.py",
    "tests/service/test_watermark_bounds.py",
    "tests/engine/test_spill.py",
    "tests/property/test_json_rows.py",
    "tests/engine/test_random_forks.py",
    "tests/property/test_whole_numbers.py",
    "tests/engine/test_temporal.py",
    "tests/service/test_kept_connections.py",
    "tests/engine/test_apart.py",
    "tests/service/test_types.py",
    "tests/property/test_types.py",
    "tests/property/test_grouping_sets.py",
    "tests/service/test_sql_errors.py",
    "tests/pgwire/test_read_referee.py",
    "tests/bench/test_reference.py",
    "tests/service/test_compared_texts.py",
    "tests/engine/test_random_side_advances.py",
    "tests/engine/operators/test_multijoin.py",
    "tests/engine/test_periods.py",
    "tests/service/test_view_costs.py",
)
"""Units that take longer than most, the longest first: `tests/unit_times.py` finds them."""


def unit(nodeid: str) -> str:
    """The unit that a test belongs to."""
    file = nodeid.partition("::")[0]
    if file.startswith(CONSOLE):
        return CONSOLE
    return SPARK if file in OF_SPARK else file


def place(nodeid: str) -> int:
    """Where in the order of units a test's is."""
    name = unit(nodeid)
    return LONG.index(name) if name in LONG else len(LONG)


class Balanced(LoadScopeScheduling):
    """Hands out units in the order in which tests were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)

    def remove_node(self, node: WorkerController) -> str | None:
        """Gives to others what a process that has died has left, and names the test that it died of.

        xdist itself would give them that test again, and units in which nothing is left: a process that is
        given nothing to do waits for ever.
        """
        workload = self.assigned_work.pop(node)
        died_of = next(
            (test for tests in workload.values() for test, done in tests.items() if not done), None
        )
        for name, tests in workload.items():
            left = {test: done for test, done in tests.items() if not done and test != died_of}
            if left:
                self.workqueue[name] = left
        if died_of is not None:
            for other in self.assigned_work:
                self._reschedule(other)
        return died_of
