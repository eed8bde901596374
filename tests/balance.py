"""How tests are divided over processes: by file, the longest first, and those of Spark together.

A unit of work is a file, for its tests share what they set up; a file of long tests that share nothing is as
many units as it has tests. One process at a time runs what uses the session of Spark that tests share.
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
        "tests/service/test_sources.py",
        "tests/spark/test_kills.py",
        "tests/spark/test_random_views.py",
        "tests/spark/test_session.py",
    }
)
"""The files with tests that ask for the fixture `sessions`."""
DIVIDED: frozenset[str] = frozenset()
"""Files whose tests may run in any process."""
LONG: tuple[str, ...] = (SPARK,)
"""Units that take more than ten seconds, the longest first; of a divided file, the file."""


def unit(nodeid: str) -> str:
    """The unit that a test belongs to."""
    file = nodeid.partition("::")[0]
    return SPARK if file in OF_SPARK else nodeid if file in DIVIDED else file


def place(nodeid: str) -> int:
    """Where in the order of units a test's is."""
    name = unit(nodeid).partition("::")[0]
    return LONG.index(name) if name in LONG else len(LONG)


class Balanced(LoadScopeScheduling):
    """Hands out units in the order in which tests were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
