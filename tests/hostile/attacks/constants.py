"""Constants that are small to write and large to compute, in views and ad hoc."""

from __future__ import annotations

from tests.hostile.attack import REFUSED, Attack, Send, attack


def _both(expression: str) -> Send:
    """The expression as a view of a constant, as a view of a column, and ad hoc."""
    return lambda door: [
        door.view("h1", f"SELECT {expression} AS x"),
        door.view("h2", f"SELECT {expression} AS x FROM h_one"),
        door.sql(f"SELECT {expression} AS x"),
    ]


def _doubled(levels: int) -> str:
    """A text of 2 ** levels characters, by CTEs."""
    ctes = ["t0 AS (SELECT 'x' AS s)"]
    ctes += [f"t{i} AS (SELECT s || s AS s FROM t{i - 1})" for i in range(1, levels + 1)]
    return f"WITH {', '.join(ctes)} SELECT length(s) AS n FROM t{levels}"


ATTACKS: tuple[Attack, ...] = (
    attack(
        "constant: repeat",
        _both("repeat('x', 10000000000)"),
        REFUSED,
    ),
    attack(
        "constant: length of repeat",
        _both("length(repeat('x', 2000000000))"),
        {200, 201} | REFUSED,
    ),
    attack(
        "constant: lpad",
        _both("lpad('x', 2000000000, 'y')"),
        REFUSED,
    ),
    attack(
        "constant: rpad",
        _both("rpad('x', 2000000000, 'y')"),
        REFUSED,
    ),
    attack(
        "constant: repeat of repeat",
        _both("repeat(repeat(repeat('x', 1000), 1000), 1000)"),
        REFUSED,
    ),
    attack(
        "constant: view of a series",
        lambda door: [
            door.view("h", "SELECT * FROM generate_series(1, 1000000000000)"),
            door.get("/v1/views/h/rows"),
        ],
        {201} | REFUSED,
    ),
    attack(
        "constant: series ad hoc",
        lambda door: [door.sql("SELECT count(*), sum(i) FROM generate_series(1, 1000000000000) AS s (i)")],
        REFUSED,
    ),
    attack(
        "constant: list of a range",
        lambda door: [
            door.view("h1", "SELECT len(range(10000000000)) AS n FROM h_one", "duckdb"),
            door.sql("SELECT len(range(10000000000)) AS n", "duckdb"),
        ],
        {200, 201} | REFUSED,
    ),
    attack(
        "constant: list of a list of a range",
        lambda door: [
            door.sql("SELECT list_transform(range(100000), lambda x: range(100000)) AS xs", "duckdb"),
            door.view(
                "h",
                "SELECT list_transform(range(100000), lambda x: range(100000)) AS xs FROM h_one",
                "duckdb",
            ),
        ],
        REFUSED,
    ),
    attack("constant: tower of powers", _both("2 ^ 2 ^ 2 ^ 2 ^ 2 ^ 2"), {200, 201} | REFUSED, is_brief=True),
    attack("constant: power of decimals", _both("9.9 ^ 9 ^ 9 ^ 9"), {200, 201} | REFUSED),
    attack("constant: factorial", _both("factorial(100000)"), {200, 201} | REFUSED),
    attack(
        "constant: text doubled 20 times",
        lambda door: [door.view("h", _doubled(20)), door.sql(_doubled(20))],
        {200, 201} | REFUSED,
        is_brief=True,
    ),
    attack(
        "constant: text doubled 40 times",
        lambda door: [door.view("h", _doubled(40)), door.sql(_doubled(40))],
        {201} | REFUSED,  # the view's row fails
    ),
    attack(
        "constant: arrays in arrays",
        _both("ARRAY[" * 500 + "1" + "]" * 500),
        {200, 201} | REFUSED,
    ),
    attack(
        "constant: array of a million elements",
        lambda door: [door.view("h", f"SELECT ARRAY[{', '.join(['1'] * 1_000_000)}] AS xs FROM h_one")],
        {201} | REFUSED,
    ),
    attack(
        "constant: number of a million digits",
        lambda door: [
            door.view("h", f"SELECT {'9' * 1_000_000} AS n FROM h_one"),
            door.sql(f"SELECT {'9' * 1_000_000}"),
        ],
        {200, 201} | REFUSED,
    ),
    attack("constant: number 1e400", _both("1e400"), {200, 201} | REFUSED, is_brief=True),
    attack("constant: cast of a huge text", _both("repeat('9', 100000000)::NUMERIC(38, 0)"), {201} | REFUSED),
    attack(
        "constant: interval of many years",
        _both("DATE '2000-01-01' + INTERVAL '99999999 years'"),
        {200, 201} | REFUSED,
        is_brief=True,
    ),
    attack(
        "constant: regular expression that backtracks",
        _both("regexp_matches(repeat('a', 100000) || 'b', '^(a+)+$')"),
        {200, 201} | REFUSED,
        is_brief=True,
    ),
    attack(
        "constant: regular expression that is large",
        _both("regexp_replace(repeat('a', 1000), '((a{0,100}){0,100}){0,100}', '\\1\\1', 'g')"),
        {200, 201} | REFUSED,
    ),
    attack(
        "constant: LIKE with many parts",
        _both(f"repeat('a', 100000) LIKE '{'%a' * 2000}%b'"),
        {200, 201} | REFUSED,
    ),
    attack(
        "constant: Levenshtein of long texts",
        _both("levenshtein(repeat('a', 100000), repeat('b', 100000))"),
        {200, 201} | REFUSED,
    ),
    attack(
        "constant: template with wide fields",
        _both("format('%1000000000s', 'x')"),
        {200, 201} | REFUSED,
    ),
)
