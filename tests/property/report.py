"""A failing case as text that can be run again: what `test_found.py` is made of."""

from __future__ import annotations

from collections import Counter

from tests.property.cases import Case
from tests.property.mismatch import Mismatch


def report(case: Case, mismatch: Mismatch, small: Case, smallest: Mismatch) -> str:
    """Both the case as it was found and the shrunk one."""
    return "\n".join(
        (
            f"seed {case.seed}; of random views this runs it again:",
            f"FRESHET_CASES=1 pytest tests/property/test_views.py --seed {case.seed}",
            "",
            "shrunk:",
            described(small, smallest),
            "",
            "as found:",
            described(case, mismatch),
        )
    )


def described(case: Case, mismatch: Mismatch) -> str:
    lines = [f"kind: {mismatch.kind}, view {mismatch.view}, epoch {mismatch.epoch}"]
    expected, got = mismatch.expected, mismatch.got
    if isinstance(expected, Counter) and isinstance(got, Counter):
        lines.append(f"missing: {sorted((expected - got).items(), key=repr)}")
        lines.append(f"too many: {sorted((got - expected).items(), key=repr)}")
    else:
        lines += [f"expected: {expected}", f"got: {got}"]
    lines.append("found(")
    lines.append("    tables=[")
    for table in case.tables:
        columns = [f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in table.schema.columns]
        if table.key is not None:
            columns.append(f"PRIMARY KEY ({', '.join(table.schema.names[i] for i in table.key)})")
        lines.append(f'        "{table.name}({", ".join(columns)})",')
    lines += ["    ],", "    views={"]
    for view in case.views:
        lines.append(f'        "{view.name}": "{view.sql()}",')
        if view.sql("duckdb") != view.sql():
            lines.append(f'        # DuckDB: "{view.sql("duckdb")}",')
    lines += ["    },", "    history=["]
    for epoch in case.history:
        lines.append(f"        {[(c.table, c.row, c.diff) for c in epoch]},")
    lines += ["    ],", ")"]
    return "\n".join(lines)
