"""Registers what dbt has compiled: a table for each seed, and for each model a view, which stays up to date.

    python register_project.py compiled/snowflake http://127.0.0.1:8000

The first argument is dbt's target directory, whose manifest says in which order and under which names. Texts
go to the service as they are, in the warehouse's dialect. Models that are registered again are replaced;
tables that are there already keep their rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from pyarrow import csv

import freshet
from freshet import Connection


def main() -> None:
    target, url = sys.argv[1:]
    with freshet.connect(url) as db:
        for name in register(db, Path(target), Path()):
            print(name)


def register(db: Connection, target: Path, project: Path) -> Iterator[str]:
    """Registers the seeds and models of a target directory, and yields their names. The paths in its manifest
    begin at the project's directory."""
    manifest = json.loads((target / "manifest.json").read_text())
    dialect = manifest["metadata"]["adapter_type"]
    for node in in_order(manifest["nodes"]):
        name = node["relation_name"]
        db.script(f"CREATE SCHEMA IF NOT EXISTS {name.rpartition('.')[0]}", dialect=dialect)
        if node["resource_type"] == "seed":
            create_seed(db, node, project, dialect)
        else:
            compiled = (project / node["compiled_path"]).read_text()
            db.script(f"CREATE OR REPLACE VIEW {name} AS {compiled}", dialect=dialect)
        yield name


def in_order(nodes: dict[str, dict]) -> list[dict]:
    """The seeds and models that have a relation, each after those that it reads."""
    waiting = {
        name: node
        for name, node in nodes.items()
        if node["resource_type"] in ("seed", "model") and node["config"]["materialized"] != "ephemeral"
    }
    ordered: list[dict] = []
    while waiting:
        ready = [name for name, node in waiting.items() if not waiting.keys() & node["depends_on"]["nodes"]]
        ordered += [waiting.pop(name) for name in ready]
    return ordered


def create_seed(db: Connection, node: dict, project: Path, dialect: str) -> None:
    """Makes the table of a seed with the rows of its file; an empty field is NULL, as in dbt."""
    name, types = node["relation_name"], node["config"]["column_types"]
    table = db.table(name.replace("`", '"'))
    try:
        table.describe()
    except freshet.NotFoundError:
        columns = ", ".join(f"{column} {type}" for column, type in types.items())
        db.script(f"CREATE TABLE {name} ({columns})", dialect=dialect)
        empty_is_null = csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
        table.insert(csv.read_csv(project / node["original_file_path"], convert_options=empty_is_null))


if __name__ == "__main__":
    main()
