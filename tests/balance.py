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
        "tests/service/test_sources.py",
        "tests/spark/test_kills.py",
        "tests/spark/test_random_views.py",
        "tests/spark/test_session.py",
    }
)
"""The files with tests that ask for the fixture `sessions`."""
LONG = (
    SPARK,
    "tests/property/test_views.py",
    "tests/engine/supersteps/test_random_views.py",
    "tests/service/test_altering.py",
    "tests/bench/test_bench.py",
    "tests/property/test_windows.py",
    "tests/service/test_kill.py",
    "tests/service/test_source_kill.py",
    "tests/suites/test_supersteps.py",
    "tests/examples/test_debian.py",
    "tests/engine/test_times.py",
    "tests/engine/test_codec.py",
    "tests/planner/test_temporal.py",
    "tests/property/test_aggregates.py",
    "tests/property/test_metamorphic.py",
    "tests/corpus/test_corpus.py",
    "tests/service/test_app.py",
    "tests/engine/test_spill.py",
    "tests/engine/test_temporal.py",
    "tests/suites/test_tpch.py",
    "tests/engine/operators/test_intern.py",
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
