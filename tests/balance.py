"""How tests are divided over processes: by file, the longest first, and those of Spark together.

A unit of work is a file, for its tests share what they set up. One process runs all that uses the session of
Spark that tests share, so that there is one Java for it.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

SPARK = "spark"
OF_SPARK = frozenset(
    {
        "tests/service/test_constraints.py",
        "tests/service/test_exports.py",
        "tests/service/test_jobs.py",
        "tests/service/test_loads.py",
        "tests/service/test_local_loads.py",
        "tests/service/test_outside.py",
        "tests/service/test_sources.py",
        "tests/spark/test_kills.py",
        "tests/spark/test_random_views.py",
        "tests/spark/test_session.py",
    }
)
"""The files with tests that ask for the fixture `sessions`."""
LONG = (
    "tests/dialects/test_bars.py",
    SPARK,
    "tests/service/test_sql.py",
    "tests/service/test_branch_views.py",
    "tests/service/test_kept_views.py",
    "tests/service/test_altering.py",
    "tests/property/test_views.py",
    "tests/service/test_builds.py",
    "tests/engine/test_random_dataflows.py",
    "tests/service/test_functions.py",
    "tests/hostile/test_hostile.py",
    "tests/service/test_schemas.py",
    "tests/client/test_embedded.py",
    "tests/service/test_standby.py",
    "tests/console/test_relations.py",
    "tests/service/test_valid_time.py",
    "tests/service/test_live_branches.py",
    "tests/service/test_pivoted_views.py",
    "tests/dialects/test_bars_in_queries.py",
    "tests/service/test_replacing_views.py",
    "tests/engine/supersteps/test_retries.py",
    "tests/service/test_memory.py",
    "tests/engine/test_parallel.py",
    "tests/property/test_windows.py",
    "tests/bench/test_bench.py",
    "tests/service/test_replacements.py",
    "tests/corpus/test_corpus.py",
    "tests/test_wheel.py",
    "tests/postgres/test_working_tables.py",
    "tests/service/test_kill.py",
    "tests/property/test_rewritten.py",
    "tests/console/test_pages.py",
    "tests/service/test_types.py",
    "tests/engine/test_nursery.py",
    "tests/console/test_reasons.py",
    "tests/planner/test_temporal.py",
    "tests/examples/test_debian.py",
    "tests/planner/test_planning_limits.py",
    "tests/service/test_query_workers.py",
    "tests/console/test_dataflow.py",
    "tests/service/test_kill_storage.py",
    "tests/service/test_sql_workers.py",
    "tests/examples/test_warehouses.py",
    "tests/service/test_what_if.py",
    "tests/client/test_command_line.py",
    "tests/service/test_added_labels.py",
    "tests/service/test_why_random.py",
    "tests/service/test_rows.py",
    "tests/property/test_nested_types.py",
    "tests/docs/test_readme.py",
    "tests/service/test_connections.py",
    "tests/examples/test_demo.py",
    "tests/service/test_source_kill.py",
    "tests/engine/costs/test_estimating.py",
    "tests/property/test_valid_time.py",
    "tests/service/test_watermarks.py",
    "tests/engine/supersteps/test_random_views.py",
    "tests/consistency/test_bank.py",
    "tests/bench/test_bulk.py",
    "tests/service/test_point_reads.py",
    "tests/engine/test_codec.py",
    "tests/console/test_queries.py",
    "tests/consistency/test_appends.py",
    "tests/engine/test_periods.py",
    "tests/service/test_recovery.py",
    "tests/postgres/test_search_cycle.py",
    "tests/engine/scalar/test_against_duckdb.py",
    "tests/console/test_timelines.py",
)
"""Units that take longer than most, the longest first."""


def unit(nodeid: str) -> str:
    """The unit that a test belongs to."""
    file = nodeid.partition("::")[0]
    return SPARK if file in OF_SPARK else file


def place(nodeid: str) -> int:
    """Where in the order of units a test's is."""
    name = unit(nodeid)
    return LONG.index(name) if name in LONG else len(LONG)


class Balanced(LoadScopeScheduling):
    """Hands out units in the order in which tests were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
