"""Statements: huge changes, definitions that pull away what others read, odd types, odd parameters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.hostile.attack import REFUSED, Attack, Send, attack
from tests.hostile.door import Door, Reply

_MILLION = "CREATE TABLE h (a BIGINT PRIMARY KEY, b BIGINT)"
_TEN_MILLION = "SELECT t.a * 100000 + b.a AS a, 1 AS b FROM h_thousand AS t JOIN h_big AS b ON t.a <= 100"
_FILL = "INSERT INTO h SELECT i, i FROM generate_series(1, 1000000) AS s (i)"


def _sql(*statements: str) -> Send:
    """Statements one after another, all of which are judged."""
    return lambda door: [door.sql(statement) for statement in statements]


def _after(setup: tuple[str, ...], *statements: str) -> Send:
    def send(door: Door) -> list[Reply]:
        door.prepare(*setup)
        return [door.sql(statement) for statement in statements]

    return send


def _dropped_while_read(door: Door) -> list[Reply]:
    """A table is dropped while eight clients read it, again and again."""
    replies: list[Reply] = []
    for _ in range(5):
        door.prepare("CREATE TABLE h (a BIGINT, b TEXT)", "INSERT INTO h SELECT * FROM h_big")
        with ThreadPoolExecutor(9) as clients:
            reads = [clients.submit(door.get, "/v1/tables/h/rows", order_by="b") for _ in range(4)]
            reads += [clients.submit(door.sql, "SELECT b, count(*) FROM h GROUP BY b") for _ in range(4)]
            replies.append(clients.submit(door.request, "DELETE", "/v1/tables/h").result())
            replies += [read.result() for read in reads]
    return replies


def _tower_dropped(door: Door) -> list[Reply]:
    """Views over views over recursions, all dropped by one statement."""
    door.prepare(
        "CREATE TABLE h_arcs (a BIGINT, b BIGINT)",
        "INSERT INTO h_arcs SELECT a, a + 1 FROM h_thousand WHERE a < 60",
    )
    reach = (
        "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM {0}"
        " UNION SELECT r.a, e.b FROM r JOIN {0} AS e ON e.a = r.b) SELECT a, b FROM r"
    )
    for level in range(8):
        below = "h_arcs" if level == 0 else f"h{level - 1}"
        assert door.view(f"h{level}", reach.format(below)).status == 201
    return [door.sql("DROP TABLE h_arcs CASCADE")]


def _as_of(*moments: str) -> Send:
    return lambda door: [
        *(door.get("/v1/views/canary/rows", as_of=moment) for moment in moments),
        *(door.sql(f"SELECT * FROM canary VERSION AS OF {moment}") for moment in moments),
    ]


def _renamed(door: Door) -> list[Reply]:
    """Definitions from eight clients at once."""

    def churn(number: int) -> list[Reply]:
        return [
            reply
            for turn in range(5)
            for reply in (
                door.sql(f"CREATE TABLE h_{number}_{turn} (a BIGINT)"),
                door.view(
                    f"hv_{number}_{turn}", f"SELECT a, count(*) AS n FROM h_{number}_{turn} GROUP BY a"
                ),
                door.sql(f"ALTER TABLE h_{number}_{turn} ADD COLUMN b TEXT DEFAULT 'x'"),
                door.sql(f"DROP TABLE h_{number}_{turn} CASCADE"),
            )
        ]

    with ThreadPoolExecutor(8) as clients:
        return [reply for replies in clients.map(churn, range(8)) for reply in replies]


def _statuses(door: Door) -> list[Reply]:
    paths = (
        "/v1/views/canary/rows?limit=99999999999999999999",
        "/v1/views/canary/rows?limit=-1",
        "/v1/views/canary/rows?cursor=zzzz",
        "/v1/views/canary/rows?cursor=" + "A" * 9000,
        "/v1/views/canary/rows?where=" + "(" * 9000,
        "/v1/views/canary/rows?where=a IN (SELECT a FROM h_big)",
        "/v1/views/canary/rows?where=1; DROP TABLE ticks",
        "/v1/views/canary/rows?order_by=" + "a," * 9000 + "a",
        "/v1/views/canary/rows?order_by=repeat('x', 10000000000)",
        "/v1/views/canary/rows?where=read_text('/etc/passwd') = ''",
        "/v1/views/canary/changes?since=99999999999999999999999",
        "/v1/views/canary/changes?since=-1",
        "/v1/views/canary/changes?since=5&until=1",
        "/v1/views/canary/plan?stage=zzz",
        "/v1/loads/" + "x" * 9000,
        "/v1/views/%00/rows",
        "/v1/views/canary/rows?errors=maybe",
        "/v1/views/canary/rows?as_of=",
    )
    return [door.get(path) for path in paths]


ATTACKS: tuple[Attack, ...] = (
    attack(
        "change: INSERT of 10^7 rows",
        _after((_MILLION,), f"INSERT INTO h {_TEN_MILLION}"),
        {200} | REFUSED,
    ),
    attack(
        "change: INSERT of 10^10 rows",
        _after(
            (_MILLION,), "INSERT INTO h SELECT a.a * 100000 + b.a, 1 FROM h_big AS a CROSS JOIN h_big AS b"
        ),
        REFUSED,
    ),
    attack(
        "change: UPDATE of a million rows",
        _after((_MILLION, _FILL), "UPDATE h SET b = b + 1"),
        {200} | REFUSED,
    ),
    attack(
        "change: MERGE of a million rows",
        _after(
            (_MILLION, _FILL),
            "MERGE INTO h USING (SELECT i AS a FROM generate_series(500001, 1500000) s (i)) AS n ON n.a = h.a"
            " WHEN MATCHED THEN UPDATE SET b = 0 WHEN NOT MATCHED THEN INSERT (a, b) VALUES (n.a, 1)",
        ),
        {200} | REFUSED,
    ),
    attack(
        "change: DELETE by a slow predicate",
        _after(
            (_MILLION, "INSERT INTO h SELECT a, a FROM h_big"),
            "DELETE FROM h WHERE a IN (SELECT x.a FROM h_big AS x, h_big AS y WHERE x.a + y.a = -1)",
        ),
        {200} | REFUSED,
    ),
    attack(
        "change: CREATE TABLE AS 10^7 rows",
        _sql(f"CREATE TABLE h AS {_TEN_MILLION}"),
        {200} | REFUSED,
    ),
    attack(
        "change: block of 500 statements",
        _sql("CREATE TABLE h (a BIGINT)", "BEGIN;" + "INSERT INTO h SELECT n FROM h_one;" * 500 + "COMMIT"),
        {200} | REFUSED,
    ),
    attack(
        "change: block that is not ended",
        _sql("BEGIN; DELETE FROM h_one", "BEGIN; BEGIN", "COMMIT"),
        REFUSED,
        is_brief=True,
    ),
    attack(
        "change: CASCADE of 100,000 rows",
        _after(
            (
                "CREATE TABLE h (a BIGINT PRIMARY KEY)",
                "INSERT INTO h SELECT a FROM h_thousand WHERE a = 1",
                "CREATE TABLE h_child (a BIGINT REFERENCES h ON DELETE CASCADE, b BIGINT)",
                "INSERT INTO h_child SELECT 1, a FROM h_big",
            ),
            "DELETE FROM h",
        ),
        {200} | REFUSED,
    ),
    attack("definition: dropped while it is read", _dropped_while_read, {200, 204, 404} | REFUSED),
    attack("definition: tower of recursions dropped at once", _tower_dropped, {200}),
    attack("definition: from eight clients at once", _renamed, {200, 201} | REFUSED, is_brief=True),
    attack(
        "definition: column added to 100,000 rows under a view",
        _after(
            (
                "CREATE TABLE h AS SELECT a, b FROM h_big",
                "CREATE VIEW hv AS SELECT b, count(*) AS n FROM h GROUP BY b",
            ),
            "ALTER TABLE h ADD COLUMN c TEXT DEFAULT 'x'",
        ),
        {200} | REFUSED,
    ),
    attack(
        "types: that are none",
        _sql(
            "CREATE TABLE h (a NUMERIC(39, 0))",
            "CREATE TABLE h (a NUMERIC(1000, 999))",
            "CREATE TABLE h (a NUMERIC(-1, 0))",
            "CREATE TABLE h (a NUMERIC(3, 5))",
            "CREATE TABLE h (a ENUM ())",
            "CREATE TABLE h (a NOSUCH)",
            "CREATE TABLE h (a MAP(INT))",
        ),
        REFUSED,
        is_brief=True,
    ),
    attack(
        "types: that are large",
        lambda door: [
            door.sql("CREATE TABLE h1 (a NUMERIC(38, 38), b VARCHAR(1000000000))"),
            door.sql("INSERT INTO h1 (a) VALUES (0.99999999999999999999999999999999999999)"),
            door.view("h2", "SELECT a * a AS x, a / 3 AS y, sum(a) AS z FROM h1 GROUP BY a"),
            door.sql(f"CREATE TABLE h3 (a BIGINT{'[]' * 100})"),
            door.sql(f"CREATE TABLE h4 (a ENUM ({', '.join(repr(f'label {i}') for i in range(20_000))}))"),
        ],
        {200, 201} | REFUSED,
    ),
    attack(
        "types: array of 2,000 dimensions",
        lambda door: [door.sql(f"CREATE TABLE h (a BIGINT{'[]' * 2000})"), door.get("/v1/tables")],
        {200} | REFUSED,
    ),
    attack(
        "types: deep paths into JSON",
        lambda door: [
            door.sql("CREATE TABLE h (j JSON)"),
            door.post("/v1/tables/h/deltas", b'[{"insert":{"j":%s}}]' % (b'{"a":' * 400 + b"1" + b"}" * 400)),
            door.view("hv1", "SELECT j #>> '{" + ",".join("a" * 400) + "}' AS x FROM h"),
            door.view("hv2", "SELECT j" + " -> 'a'" * 400 + " AS x FROM h"),
        ],
        {200, 201} | REFUSED,
    ),
    attack(
        "history: AS OF nonsense",
        _as_of(
            "99999999999999999999999999",
            "-1",
            "'yesterday'",
            "1e30",
            "0x10",
            "'9999-12-31T23:59:59Z'",
            "'-4713-01-01'",
            "NULL",
            "(SELECT 1)",
            "1; DROP TABLE ticks",
            "\u0661",
        ),
        REFUSED | {410},
        is_brief=True,
    ),
    attack("parameters: nonsense", _statuses, {200, 404, 406, 410} | REFUSED, is_brief=True),
    attack(
        "files: of the machine",
        lambda door: [
            door.sql("SELECT * FROM read_csv('/etc/passwd')", "duckdb"),
            door.sql("SELECT * FROM '/etc/passwd'", "duckdb"),
            door.sql("COPY h_one TO '/tmp/h'", "duckdb"),
            door.sql("ATTACH '/tmp/h.db' AS h", "duckdb"),
            door.sql("INSTALL httpfs; LOAD httpfs", "duckdb"),
            door.sql("SET threads = 1", "duckdb"),
            door.view("h", "SELECT * FROM read_text('/etc/passwd')", "duckdb"),
            door.sql("SELECT getenv('HOME')", "duckdb"),
            door.sql("SELECT * FROM duckdb_settings()", "duckdb"),
            door.sql("PRAGMA database_list", "duckdb"),
            door.sql("SELECT * FROM glob('/*')", "duckdb"),
        ],
        REFUSED,
        is_brief=True,
    ),
)
