"""dbt in a process of its own: commands in, outcomes out."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "dbt"


@dataclass(frozen=True)
class Outcome:
    """How a command of dbt ended. `results` has each node's, by its name."""

    success: bool
    error: str | None
    results: dict[str, dict[str, Any]]

    @property
    def statuses(self) -> dict[str, str]:
        return {name: result["status"] for name, result in self.results.items()}

    @property
    def told(self) -> str:
        """All messages, for errors."""
        return "\n".join([self.error or "", *(str(result["message"]) for result in self.results.values())])


class Dbt:
    """Runs commands in the directory of a project, with an interpreter that has dbt."""

    def __init__(self, python: str, project: Path, **environment: str) -> None:
        self.project = project
        paths = f"{EXAMPLE / 'adapter'}{os.pathsep}{ROOT}"
        fixed = {
            "PYTHONPATH": paths,
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DBT_QUIET": "true",
            "DBT_PROFILES_DIR": ".",
        }
        self._process = subprocess.Popen(
            [python, str(Path(__file__).with_name("driver.py"))],
            cwd=project,
            env={**os.environ, **fixed, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> Outcome:
        assert self._process.stdin and self._process.stdout
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        found = json.loads(self._process.stdout.readline())
        results = {result["name"]: result for result in found["results"]}
        return Outcome(found["success"], found["error"], results)

    def succeed(self, *arguments: str) -> Outcome:
        outcome = self.run(*arguments)
        assert outcome.success, outcome.told
        return outcome

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(240)
