"""The project of `examples/warehouses`, as dbt has compiled it: registered, and changed at random.

At every epoch, also after a restart, all answers are those of DuckDB, which runs the text compiled for it."""

from __future__ import annotations

import contextlib
import io
import json
import random
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
from pyarrow import csv

import freshet
from examples.warehouses.compile_project import TARGETS
from examples.warehouses.register_project import in_order, register
from freshet import Connection
from tests.docs.markdown import ROOT, blocks
from tests.docs.terminal import ADDRESS
from tests.seeds import SEED
from tests.service.client import Process

PROJECT = ROOT / "examples" / "warehouses"
WAREHOUSES = [target for target in TARGETS if target != "duckdb"]
EPOCHS = 8
Row = tuple[object, ...]
MODELS = [path.stem for path in sorted((PROJECT / "models").rglob("*.sql"))]
ITEMS = ("tea", "toast", "club", "a 'wrap'", "ßoup")


def manifest(target: str) -> list[dict]:
    return in_order(json.loads((PROJECT / "compiled" / target / "manifest.json").read_text())["nodes"])


def names(target: str) -> dict[str, str]:
    """The names of a target's relations, as a client writes them, by the own names."""
    written = [node["relation_name"].replace("`", '"') for node in manifest(target)]
    return {name.rpartition(".")[2].strip('"'): name for name in written}


class Referee:
    """DuckDB over the seeds, from scratch at every epoch; rows are dicts of texts as in the files."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        self.seeds = {
            node["relation_name"]: node for node in manifest("duckdb") if node["resource_type"] == "seed"
        }
        for name, node in self.seeds.items():
            columns = ", ".join(f"{c} {t}" for c, t in node["config"]["column_types"].items())
            self.connection.execute(f"CREATE TABLE {name} ({columns})")
        for node in manifest("duckdb"):
            if node["resource_type"] == "model":
                text = (PROJECT / node["compiled_path"]).read_text()
                self.connection.execute(f"CREATE VIEW {node['relation_name']} AS {text}")

    def load(self, tables: dict[str, list[dict]]) -> None:
        for name in self.seeds:
            self.connection.execute(f"DELETE FROM {name}")
            for row in tables[name.rpartition(".")[2].strip('"')]:
                places = ", ".join("?" * len(row))
                self.connection.execute(f"INSERT INTO {name} VALUES ({places})", list(row.values()))

    def rows(self, model: str) -> Counter[Row]:
        return bag(self.connection.execute(f"SELECT * FROM {names('duckdb')[model]}").fetchall())


def bag(rows: list[Row]) -> Counter[Row]:
    return Counter(tuple(map(_comparable, row)) for row in rows)


def _comparable(value: object) -> object:
    """Numbers of all types alike, and moments without their zone: a TIMESTAMP has one in some warehouses."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    return round(float(value), 6) if isinstance(value, int | float | Decimal) else value


def answers(db: Connection, target: str, model: str, as_of: int | None = None) -> Counter[Row]:
    rows = db.view(names(target)[model]).rows(as_of=as_of).dicts()
    return bag([tuple(row.values()) for row in rows])


def seed_rows() -> dict[str, list[dict]]:
    """The rows of the files, with an empty field as NULL."""
    options = csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
    files = sorted((PROJECT / "seeds").glob("*.csv"))
    return {file.stem: csv.read_csv(file, convert_options=options).to_pylist() for file in files}


def random_row(rng: random.Random, table: str, id: int) -> dict:
    if table == "raw_customers":
        joined = date(2025, 1, 28) + timedelta(days=rng.randrange(6))
        names = rng.choice(["Ann", " Bo ", "Émile"]), rng.choice(["Ash", None])
        return {"id": id, "first_name": names[0], "last_name": names[1], "joined": joined}
    if table == "raw_payments":
        method = rng.choice(["card", "cash", "coupon", "gift_card"])
        return {
            "id": id,
            "order_id": rng.randrange(1, 12),
            "method": method,
            "cents": rng.randrange(-200, 5000),
        }
    items = [{"item": rng.choice(ITEMS), "quantity": rng.randrange(1, 4)} for _ in range(rng.randrange(3))]
    moment = datetime(2025, 1, 30) + timedelta(minutes=rng.randrange(60 * 24 * 40))
    status = rng.choice(["placed", "completed", "returned", "shipped"])
    note = rng.choice([None, "7", "table 4", "12"])
    customer = rng.choice([1, 2, 3, 4, 5, None])
    return {
        **{"id": id, "customer_id": customer, "ordered_at": moment, "status": status},
        **{"basket": json.dumps(items), "note": note},
    }


def change(db: Connection, rng: random.Random, tables: dict[str, list[dict]]) -> int:
    """Some rows more and fewer, in all warehouses in one epoch; now and then all rows of a table go."""
    applied: list[tuple[str, str, dict]] = []
    for _ in range(rng.randrange(1, 6)):
        table = rng.choice(list(tables))
        rows = tables[table]
        draw = rng.random()
        gone = list(rows) if draw < 0.05 else rng.sample(rows, min(len(rows), 1)) if draw < 0.6 else []
        for row in gone:
            rows.remove(row)
            applied.append((table, "delete", row))
        if draw > 0.3:
            row = random_row(rng, table, rng.randrange(1, 12))
            rows.append(row)
            applied.append((table, "insert", row))
    with db.changing() as changing:
        for target in WAREHOUSES:
            for table, operation, row in applied:
                getattr(changing.table(names(target)[table]), operation)(pa.Table.from_pylist([row]))
    return changing.epoch


def test_the_warehouses_texts_have_duckdbs_answers(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    tables, referee, seen = seed_rows(), Referee(), {}
    with freshet.connect(embedded=True, data=tmp_path / "data") as db:
        for target in WAREHOUSES:
            list(register(db, PROJECT / "compiled" / target, PROJECT))
        for _ in range(EPOCHS // 2):
            seen |= compared(db, referee, tables, change(db, rng, tables))
    with freshet.connect(embedded=True, data=tmp_path / "data") as db:
        again = rng.choice(WAREHOUSES)  # views are replaced by equal ones, and tables keep their rows
        list(register(db, PROJECT / "compiled" / again, PROJECT))
        for _ in range(EPOCHS // 2):
            seen |= compared(db, referee, tables, change(db, rng, tables))
        for epoch, model in rng.sample(sorted(seen), 20):
            for target in WAREHOUSES:
                assert answers(db, target, model, epoch) == seen[epoch, model], (target, model, epoch)
    assert all(any(seen[epoch, model] for epoch, name in seen if name == model) for model in MODELS)


def compared(
    db: Connection, referee: Referee, tables: dict[str, list[dict]], epoch: int
) -> dict[tuple[int, str], Counter[Row]]:
    """DuckDB's answers at an epoch, after every warehouse has been found to have them."""
    referee.load(tables)
    found = {(epoch, model): referee.rows(model) for model in MODELS}
    for target in WAREHOUSES:
        for model in MODELS:
            assert answers(db, target, model) == found[epoch, model], (target, model, epoch)
    return found


def test_every_model_is_compiled_for_every_target() -> None:
    """`python compile_project.py` compiles them."""
    for target in TARGETS:
        assert sorted(names(target)) == sorted([*MODELS, *seed_rows()]), target


def test_the_readme_is_true(tmp_path: Path) -> None:
    command, listed, program, printed = blocks("examples/warehouses/README.md")
    process = Process(tmp_path, {})
    try:
        process.wait_ready()
        words = ADDRESS.sub(process.url, command.text).split()[1:]
        environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
        done = subprocess.run(
            [sys.executable, *words], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout == listed.text
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(ADDRESS.sub(process.url, program.text), {})
        assert out.getvalue() == printed.text
    finally:
        process.kill()
