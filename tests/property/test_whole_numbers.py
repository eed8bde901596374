"""Small, unsigned and huge whole numbers beside DuckDB's: arithmetic, comparisons, casts, aggregates."""

from __future__ import annotations

from engine.schema import WHOLES
from tests.property.examples import SQL, hold

TABLES = tuple(f"{name.lower()}s(id INTEGER NOT NULL, x {name}, y {name}, z INTEGER)" for name in WHOLES)


def views(name: str) -> list[SQL]:
    table = f"{name.lower()}s"
    plain: list[SQL] = [
        f"SELECT id, x, y FROM {table} WHERE x > 1 AND y <= x",
        f"SELECT x, count(*), sum(y), min(y), max(y), avg(y), count(DISTINCT y) FROM {table} GROUP BY x",
        f"SELECT id, x + y FROM {table}",
        f"SELECT id, x - y FROM {table}",
        f"SELECT id, x * y FROM {table} WHERE x < 8",
        f"SELECT id, x % 3, x // 2, x / 4 FROM {table}",
        f"SELECT id, CAST(x AS VARCHAR), CAST(x AS DOUBLE), TRY_CAST(x AS SMALLINT) FROM {table}",
        f"SELECT id, CAST(z AS {name}) FROM {table}",
        f"SELECT id, TRY_CAST(z AS {name}), TRY_CAST(CAST(z AS VARCHAR) AS {name}), "
        f"TRY_CAST(z + 0.5 AS {name}) FROM {table}",
        f"SELECT a.id, b.id FROM {table} AS a JOIN {table} AS b ON a.x = b.y",
        f"SELECT a.id, b.id FROM {table} AS a LEFT JOIN {table} AS b ON a.x = b.z",
        f"SELECT coalesce(x, z), greatest(x, y), CASE WHEN x = 0 THEN y ELSE x END FROM {table}",
        f"SELECT x FROM {table} UNION SELECT z FROM {table}",
        f"SELECT id, x FROM {table} WHERE x IN (1, 7, 300) OR y BETWEEN 2 AND 200",
        f"SELECT id, sum(x) OVER (PARTITION BY z ORDER BY id, x, y ROWS 1 PRECEDING), "
        f"rank() OVER (ORDER BY x) FROM (SELECT DISTINCT * FROM {table})",
        f"SELECT array_agg(x ORDER BY x), bit_or(x), median(x) FROM {table} WHERE x BETWEEN 0 AND 7",
        f"SELECT z, x FROM {table} ORDER BY x DESC NULLS LAST, z, y, id LIMIT 2",
    ]
    if WHOLES[name][1]:
        plain.append(f"SELECT id, -x FROM {table}")
    return plain


def test_every_type() -> None:
    hold(TABLES, [view for name in WHOLES for view in views(name)], dialect="duckdb", length=6)
