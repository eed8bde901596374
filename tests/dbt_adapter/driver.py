"""A process that runs commands of dbt one after the other, because to load dbt takes seconds.

Each line of its input is a list of arguments as JSON. Each line of its output says how the command ended.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from dbt.cli.main import dbtRunner


def described(node: Any) -> dict[str, Any]:
    """A result of `dbt build` and the like, or of `dbt show`."""
    table = getattr(node, "agate_table", None)
    return {
        "name": node.node.name,
        "status": str(node.status),
        "message": node.message,
        "failures": getattr(node, "failures", None),
        "rows": None if table is None else [[str(value) for value in row] for row in table.rows],
    }


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        found = dbtRunner().invoke(json.loads(line))
        results = [described(node) for node in getattr(found.result, "results", ())]
        error = None if found.exception is None else str(found.exception)
        print(json.dumps({"success": found.success, "error": error, "results": results}), file=answers)
        answers.flush()


if __name__ == "__main__":
    main()
