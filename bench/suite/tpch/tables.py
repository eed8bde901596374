"""The rows of TPC-H, and its refresh functions (specification, section 2.5)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from bench.suite.tables import Change, Tables
from bench.suite.tpch.schema import RELATIONS, TABLES


def generate(scale: float, directory: Path) -> None:
    """Generate a Parquet file for each table at a scale factor (1 has 6 million lines)."""
    command = [str(Path(sys.executable).with_name("tpchgen-cli")), "parquet", "-s", str(scale)]
    subprocess.run([*command, "--output-dir", str(directory)], check=True, stdout=subprocess.DEVNULL)


class Business(Tables):
    """All eight tables."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(RELATIONS, seed)

    def load(self, directory: Path) -> Change:
        """Insert every row of the files that `generate` made."""
        return self.insert_all({name: f"FROM read_parquet('{directory / name}.parquet')" for name in TABLES})

    def place(self, orders: int) -> Change:
        """Insert new orders with their lines, modelled on existing orders, for one customer (RF1)."""
        models = self.some("orders", orders).column("o_orderkey").to_pylist()
        customers = self.some("customer", 1).column("c_custkey").to_pylist() or ["NULL"]
        ((last,),) = self.connection.execute("SELECT coalesce(max(o_orderkey), 0) FROM orders").fetchall()
        names = pa.table({"model": models, "named": [last + 1 + number for number in range(len(models))]})
        placed = f"orders.* REPLACE (named AS o_orderkey, {customers[0]} AS o_custkey)"
        return self.insert_all(
            {
                "orders": f"SELECT {placed} FROM orders JOIN given ON o_orderkey = model",
                "lineitem": "SELECT lineitem.* REPLACE (named AS l_orderkey) "
                "FROM lineitem JOIN given ON l_orderkey = model",
            },
            names,
        )

    def cancel(self, orders: int) -> Change:
        """Delete orders with their lines (RF2)."""
        gone = self.some("orders", orders)
        lines = self.query("FROM lineitem SEMI JOIN given ON l_orderkey = o_orderkey", gone)
        return self.delete_all({"orders": gone, "lineitem": lines})
