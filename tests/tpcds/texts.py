"""The 99 queries of TPC-DS as text.

They are not part of this repository: sqlglot's source distribution has them among its fixtures, and pip
fetches that.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import sqlglot
from sqlglot import exp

DISTRIBUTION = "sqlglot==30.0.0"
_MEMBER = "tests/fixtures/optimizer/tpc-ds/tpc-ds.sql"
_HEADING = re.compile(r"^-+\n-- TPC-DS (\d+)\n-+\n(?:#.*\n)*", re.MULTILINE)


def fetched(directory: Path | None = None) -> dict[int, str]:
    """The queries by number; the distribution is taken from `directory` if it is there, and left in it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = directory or Path(scratch)
        if not list(folder.glob("sqlglot-*.tar.gz")):
            options = ["--quiet", "--no-deps", "--no-binary", "sqlglot", "--dest"]
            command = [sys.executable, "-m", "pip", "download", *options, str(folder), DISTRIBUTION]
            subprocess.run(command, check=True)
        return queries(_fixture(next(folder.glob("sqlglot-*.tar.gz"))))


def _fixture(archive: Path) -> str:
    with tarfile.open(archive) as files:
        member = next(each for each in files if each.name.endswith(_MEMBER))
        content = files.extractfile(member)
        if content is None:
            raise FileNotFoundError(_MEMBER)
        return content.read().decode()


def queries(fixture: str) -> dict[int, str]:
    """Of each section the first statement: the query as the specification has it."""
    _, *parts = _HEADING.split(fixture)
    return {
        int(number): body.split(";")[0].strip() for number, body in zip(parts[::2], parts[1::2], strict=True)
    }


def with_ties_broken(query: str) -> str:
    """The query for DuckDB: wherever rows are limited, their order ends with all of their columns."""
    tree = sqlglot.parse_one(query, read="duckdb")
    for limit in list(tree.find_all(exp.Limit)):
        limited = limit.parent
        if isinstance(limited, exp.Query) and limited.args.get("order"):
            for i in range(1, len(limited.selects) + 1):
                limited.args["order"].append("expressions", exp.Ordered(this=exp.Literal.number(i)))
    return tree.sql(dialect="duckdb")
