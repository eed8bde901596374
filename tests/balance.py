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
    SPARK,
    "tests/hostile/test_hostile.py",
    "tests/service/test_standby.py",
    "tests/service/test_altering.py",
    "tests/property/test_views.py",
    "tests/console/test_relations.py",
    "tests/service/test_source_kill.py",
    "tests/service/test_kill.py",
    "tests/console/test_pages.py",
    "tests/examples/test_demo.py",
    "tests/service/test_query_workers.py",
    "tests/engine/test_random_dataflows.py",
    "tests/client/test_embedded.py",
    "tests/service/test_feeds.py",
    "tests/client/test_command_line.py",
    "tests/bench/test_bench.py",
    "tests/engine/supersteps/test_random_views.py",
    "tests/docs/test_upgrading.py",
    "tests/service/test_connections.py",
    "tests/client/test_changefeeds.py",
    "tests/consistency/test_bank.py",
    "tests/consistency/test_appends.py",
    "tests/service/test_app.py",
    "tests/suites/test_supersteps.py",
    "tests/examples/test_debian.py",
    "tests/planner/test_temporal.py",
    "tests/service/test_sql_workers.py",
    "tests/client/test_walkthrough.py",
    "tests/property/test_windows.py",
    "tests/property/test_aggregates.py",
    "tests/corpus/test_corpus.py",
    "tests/engine/test_codec.py",
    "tests/bench/test_new_view.py",
    "tests/bench/test_level.py",
    "tests/bench/test_sizing.py",
    "tests/bench/test_curves.py",
    "tests/engine/kernels/test_compiled.py",
    "tests/engine/scalar/test_against_duckdb.py",
    "tests/client/test_retries.py",
    "tests/property/test_metamorphic.py",
    "tests/engine/test_times.py",
    "tests/suites/test_tpch.py",
    "tests/engine/operators/test_intern.py",
    "tests/service/test_builds.py",
    "tests/service/test_large_kill.py",
    "tests/engine/test_spill.py",
    "tests/engine/test_temporal.py",
)
"""Units that take ten seconds and more, the longest first."""


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
