"""SQL that is deep, long or wide, and SQL whose plan doubles with each line."""

from __future__ import annotations

from tests.hostile.attack import REFUSED, Attack, Send, attack
from tests.hostile.door import Door, Reply

_DEEP = 10_000


def _both(query: str) -> Send:
    return lambda door: [door.view("h", query), door.sql(query)]


def _wrapped(before: str, middle: str, after: str, levels: int = _DEEP) -> str:
    return before * levels + middle + after * levels


def _doubling(levels: int) -> str:
    """CTEs that each join the one before with itself; by a key, so that the rows do not double."""
    ctes = ["c0 AS (SELECT n FROM h_one)"]
    ctes += [
        f"c{i} AS (SELECT x.n FROM c{i - 1} AS x JOIN c{i - 1} AS y ON x.n = y.n)"
        for i in range(1, levels + 1)
    ]
    return f"WITH {', '.join(ctes)} SELECT n FROM c{levels}"


def _nested_views(door: Door) -> list[Reply]:
    replies = [door.view("h0", "SELECT n FROM h_one")]
    for i in range(1, 31):
        replies.append(door.view(f"h{i}", f"SELECT x.n FROM h{i - 1} AS x JOIN h{i - 1} AS y ON x.n = y.n"))
        if replies[-1].status != 201:
            break
    return replies


def _wide_table(door: Door) -> list[Reply]:
    columns = ", ".join(f"c{i} BIGINT" for i in range(5000))
    return [
        door.sql(f"CREATE TABLE h_wide ({columns})"),
        door.sql("INSERT INTO h_wide (c1) SELECT a FROM h_thousand"),
        door.view("h", "SELECT * FROM h_wide ORDER BY c1"),
    ]


ATTACKS: tuple[Attack, ...] = (
    attack(
        "deep: parentheses",
        _both(f"SELECT {_wrapped('(', 'n', ')')} AS n FROM h_one"),
        REFUSED | {200, 201},
        is_brief=True,
    ),
    attack(
        "deep: CASE",
        _both(f"SELECT {_wrapped('CASE WHEN n > 1 THEN 1 ELSE ', 'n', ' END')} AS n FROM h_one"),
        REFUSED | {200, 201},
    ),
    attack(
        "deep: NOT", _both(f"SELECT n FROM h_one WHERE {_wrapped('NOT ', 'n > 1', '')}"), REFUSED | {200, 201}
    ),
    attack("deep: minus", _both(f"SELECT {_wrapped('- ', 'n', '')} AS n FROM h_one"), REFUSED | {200, 201}),
    attack(
        "deep: functions", _both(f"SELECT {_wrapped('abs(', 'n', ')')} AS n FROM h_one"), REFUSED | {200, 201}
    ),
    attack("deep: casts", _both(f"SELECT n{'::BIGINT' * _DEEP} AS n FROM h_one"), REFUSED | {200, 201}),
    attack(
        "deep: subqueries",
        _both(_wrapped("SELECT * FROM (", "SELECT n FROM h_one", ") AS t")),
        REFUSED | {200, 201},
    ),
    attack(
        "deep: EXISTS",
        _both(_wrapped("SELECT n FROM h_one WHERE EXISTS (", "SELECT n FROM h_one", ")", 1000)),
        REFUSED | {200, 201},
    ),
    attack(
        "deep: 500 parentheses",  # fewer than most limits
        _both(f"SELECT {_wrapped('(', 'n', ')', 500)} AS n FROM h_one"),
        REFUSED | {200, 201},
        is_brief=True,
    ),
    attack(
        "deep: 100 subqueries",
        _both(_wrapped("SELECT * FROM (", "SELECT n FROM h_one", ") AS t", 100)),
        REFUSED | {200, 201},
    ),
    attack(
        "deep: brackets", _both(f"SELECT {_wrapped('[', '1', ']')} AS n FROM h_one"), REFUSED | {200, 201}
    ),
    attack("deep: opened and not closed", _both("SELECT " + "(" * 100_000), REFUSED, is_brief=True),
    attack("deep: comments", _both(f"SELECT {_wrapped('/* ', '', ' */')} 1 AS n"), REFUSED | {200, 201}),
    attack(
        "long: text of 10 MB",
        _both(f"SELECT '{'x' * 10_000_000}' AS s FROM h_one"),
        {413},
        "too_large",
        "sql_too_large",
        is_brief=True,
    ),
    attack(
        "long: literal of 8 MB",
        _both(f"SELECT length('{'x' * 8_000_000}') AS n FROM h_one"),
        REFUSED | {200, 201},
    ),
    attack("long: name", _both(f'SELECT n AS "{"x" * 1_000_000}" FROM h_one'), REFUSED | {200, 201}),
    attack(
        "long: sum of 3,000 terms",
        _both(f"SELECT {' + '.join(['n'] * 3000)} AS n FROM h_one"),
        REFUSED | {200, 201},
    ),
    attack(
        "long: OR of 3,000 terms",
        _both(f"SELECT n FROM h_one WHERE {' OR '.join(f'n = {i}' for i in range(3000))}"),
        REFUSED | {200, 201},
    ),
    attack(
        "long: 100,000 literals in IN",
        _both(f"SELECT n FROM h_one WHERE n IN ({', '.join(map(str, range(100_000)))})"),
        REFUSED | {200, 201},
    ),
    attack(
        "long: 100,000 literals in NOT IN with NULL",
        _both(f"SELECT n FROM h_one WHERE n NOT IN (NULL, {', '.join(map(str, range(2, 100_000)))})"),
        REFUSED | {200, 201},
    ),
    attack(
        "long: 100,000 rows of VALUES",
        _both(f"SELECT x FROM (VALUES {', '.join(f'({i})' for i in range(100_000))}) AS t (x)"),
        REFUSED | {200, 201},
    ),
    attack(
        "long: 10,000 UNION ALL",
        _both(" UNION ALL ".join(["SELECT n FROM h_one"] * 10_000)),
        REFUSED | {200, 201},
    ),
    attack(
        "long: 500 joins",
        _both(
            "SELECT t0.n FROM h_one AS t0"
            + "".join(f" JOIN h_one AS t{i} ON t{i}.n = t0.n" for i in range(1, 500))
        ),
        REFUSED | {200, 201},
    ),
    attack(
        "long: 10,000 CTEs",
        _both(
            f"WITH {', '.join(f'c{i} AS (SELECT n FROM h_one)' for i in range(10_000))} SELECT n FROM c9999"
        ),
        REFUSED | {200, 201},
    ),
    attack(
        "long: script of 5,000 statements",
        lambda door: [door.sql("SHOW TABLES;" * 5000)],
        REFUSED | {200},
    ),
    attack(
        "wide: 5,000 columns of a view",
        _both(f"SELECT {', '.join(f'n + {i} AS c{i}' for i in range(5000))} FROM h_one"),
        REFUSED | {200, 201},
    ),
    attack("wide: 5,000 columns of a table", _wide_table, REFUSED | {200, 201}),
    attack("doubling: 12 CTEs", _both(_doubling(12)), {200, 201} | REFUSED, is_brief=True),
    attack("doubling: 60 CTEs", _both(_doubling(60)), {200, 201} | REFUSED),
    attack(
        "doubling: 60 CTEs explained",
        lambda door: [door.sql(f"EXPLAIN {_doubling(60)}")],
        {200} | REFUSED,
    ),
    attack("doubling: 30 views", _nested_views, {201} | REFUSED),
)
