"""Has dbt compile the project for each warehouse, without a connection to any.

    pip install 'dbt-core<1.12' dbt-snowflake dbt-bigquery dbt-databricks dbt-duckdb
    python compile_project.py

`compiled/` then has what dbt wrote: a text for each model, and of the manifest that names them all as much as
`register_project.py` reads.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parent
TARGETS = ("snowflake", "bigquery", "databricks", "duckdb")
KEPT = ("resource_type", "relation_name", "compiled_path", "original_file_path")


def main() -> None:
    for target in TARGETS:
        directory = Path("compiled", target)
        shutil.rmtree(PROJECT / directory, ignore_errors=True)
        command = ["dbt", "compile", "--target", target, "--target-path", str(directory)]
        offline = ["--profiles-dir", ".", "--no-introspect", "--no-populate-cache", "--no-partial-parse"]
        subprocess.run([*command, *offline], cwd=PROJECT, check=True)
        _prune(PROJECT / directory)


def _prune(directory: Path) -> None:
    """Removes what nobody reads: macros, graphs, times."""
    whole = json.loads((directory / "manifest.json").read_text())
    nodes = {name: _kept(node) for name, node in sorted(whole["nodes"].items())}
    manifest = {"metadata": {"adapter_type": whole["metadata"]["adapter_type"]}, "nodes": nodes}
    for path in directory.iterdir():
        if path.is_file():
            path.unlink()
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def _kept(node: dict) -> dict:
    kept = {key: node[key] for key in KEPT if key in node}
    config = {key: node["config"][key] for key in ("materialized", "column_types")}
    return kept | {"config": config, "depends_on": {"nodes": node["depends_on"].get("nodes", [])}}


if __name__ == "__main__":
    main()
