"""Many rows: cross joins, counts of a bag, orders and windows of everything, and slow queries at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.hostile.attack import REFUSED, Attack, Send, attack
from tests.hostile.door import Door, Reply, reply_of

_PAIRS = "SELECT count(*), sum(a.a * b.a % 7) FROM h_big AS a CROSS JOIN h_big AS b"


def _view(sql: str) -> Send:
    return lambda door: [door.view("h", sql)]


def _adhoc(sql: str, dialect: str = "postgres") -> Send:
    return lambda door: [door.sql(sql, dialect)]


def _counted(ask: Callable[[Door], list[Reply]], squares: int = 2) -> Send:
    """Views of one row each, with a count that is the square of the last: 10^6, 10^12, 10^24."""

    def send(door: Door) -> list[Reply]:
        made = [door.view("h1", "SELECT 1 AS x FROM h_thousand AS a CROSS JOIN h_thousand AS b")]
        for number in range(2, squares + 1):
            made.append(
                door.view(
                    f"h{number}", f"SELECT 1 AS x FROM h{number - 1} AS a CROSS JOIN h{number - 1} AS b"
                )
            )
        if any(reply.status != 201 for reply in made):
            return made
        return ask(door)

    return send


def _stream(accept: str) -> Callable[[Door], list[Reply]]:
    """The first megabyte of an answer that would be endless."""

    def ask(door: Door) -> list[Reply]:
        try:
            with (
                httpx.Client(base_url=door.url, timeout=door.patience, verify=False, trust_env=False) as http,
                http.stream("GET", "/v1/views/h2/rows", headers={"Accept": accept}) as response,
            ):
                received = 0
                for piece in response.iter_raw():
                    received += len(piece)
                    if received > 1 << 20:
                        break
                return [reply_of(response) if response.is_closed else Reply(response.status_code)]
        except httpx.TimeoutException:
            return [Reply(0, "no_answer")]
        except httpx.TransportError:
            return [Reply(0, "closed")]

    return ask


def _at_once(count: int, sql: str) -> Send:
    """A statement from many clients, and meanwhile the routes that have to answer."""

    def send(door: Door) -> list[Reply]:
        with ThreadPoolExecutor(count) as clients:
            slow = [clients.submit(door.sql, sql) for _ in range(count)]
            quick = [door.get("/v1/status"), door.get("/v1/views/canary/rows"), door.get("/metrics")]
            return quick + [each.result() for each in slow]

    return send


ATTACKS: tuple[Attack, ...] = (
    attack(
        "join: view of 10^10 rows",
        _view("SELECT a.a, b.a AS b FROM h_big AS a CROSS JOIN h_big AS b"),
        REFUSED,
    ),
    attack(
        "join: 10^10 rows ad hoc",
        _adhoc("SELECT count(*), sum(a.a + b.a) FROM h_big AS a CROSS JOIN h_big AS b"),
        REFUSED,
    ),
    attack(
        "join: answer of 10^10 rows",
        _adhoc("SELECT a.b, b.b FROM h_big AS a CROSS JOIN h_big AS b"),
        REFUSED,
    ),
    attack(
        "join: sort of 10^10 rows",
        _adhoc("SELECT a.b FROM h_big AS a CROSS JOIN h_big AS b ORDER BY a.b || b.b LIMIT 1"),
        REFUSED,
    ),
    attack(
        "join: 10^10 pairs, counted",
        _view("SELECT count(*) AS n FROM h_big AS a CROSS JOIN h_big AS b"),
        {201} | REFUSED,
    ),
    attack(
        "join: inequality",
        _view("SELECT a.a, b.a AS b FROM h_big AS a JOIN h_big AS b ON a.a < b.a"),
        REFUSED,
    ),
    attack(
        "join: one key for all",
        _view("SELECT a.a, b.a AS b FROM h_big AS a JOIN h_big AS b ON a.a % 1 = b.a % 1"),
        REFUSED,
    ),
    attack(
        "join: cross join of six",
        _view(
            "SELECT count(*) AS n FROM h_thousand a, h_thousand b, h_thousand c, h_thousand d, h_thousand e,"
            " h_thousand f"
        ),
        {201} | REFUSED,
    ),
    attack(
        "join: grows by a post",
        lambda door: [
            door.sql("CREATE TABLE h_left (a BIGINT)"),
            door.view("h", "SELECT l.a, b.a AS b, b.b AS c FROM h_left AS l CROSS JOIN h_big AS b"),
            door.sql("INSERT INTO h_left SELECT a FROM h_big"),
        ],
        {200, 201} | REFUSED,
    ),
    attack(
        "bag: a row 10^12 times, ten of them read",
        _counted(lambda door: [door.get("/v1/views/h2/rows", limit=10)]),
        {200},
    ),
    attack(
        "bag: a row 10^12 times, ordered",
        _counted(lambda door: [door.get("/v1/views/h2/rows", limit=10, order_by="x")]),
        {200} | REFUSED,
    ),
    attack(
        "bag: a row 10^12 times, counted ad hoc",
        _counted(lambda door: [door.sql("SELECT count(*) FROM h2")]),
        {200} | REFUSED,
    ),
    attack(
        "bag: a row 10^12 times, its changes",
        _counted(lambda door: [door.get("/v1/views/h2/changes")]),
        {200},
        is_brief=True,
    ),
    attack(
        "bag: a row 10^12 times, as NDJSON",
        _counted(_stream("application/x-ndjson")),
        {200},
    ),
    attack("bag: a row 10^12 times, as CSV", _counted(_stream("text/csv")), {200}),
    attack(
        "bag: a row 10^12 times, as Arrow",
        _counted(_stream("application/vnd.apache.arrow.stream")),
        {200},
    ),
    attack(
        "bag: a row 10^12 times, summed by a view",
        _counted(lambda door: [door.view("h3", "SELECT count(*) AS n, sum(x) AS s FROM h2")]),
        {201},
        is_brief=True,
    ),
    attack(
        "bag: a row 10^12 times, listed by a view",
        _counted(lambda door: [door.view("h3", "SELECT array_agg(x) AS xs FROM h2")]),
        {201} | REFUSED,
    ),
    attack(
        "bag: a row 10^12 times, numbered by a view",
        _counted(lambda door: [door.view("h3", "SELECT row_number() OVER () AS n FROM h2")]),
        {201} | REFUSED,
    ),
    attack(
        "bag: a count that overflows",
        _counted(lambda door: [door.get("/v1/views/h3/rows", limit=1)], squares=3),
        {201} | REFUSED,
    ),
    attack(
        "order: of everything, without a limit",
        _view("SELECT a, b FROM h_big ORDER BY b, a"),
        {201},
        is_brief=True,
    ),
    attack(
        "order: the second half of everything",
        _view("SELECT a, b FROM h_big ORDER BY b, a LIMIT 50000 OFFSET 50000"),
        {201} | REFUSED,
    ),
    attack(
        "order: rows of a table by a function",
        lambda door: [door.get("/v1/tables/h_big/rows", order_by="md5(b), a")],
        {200},
    ),
    attack(
        "order: rows where a predicate is slow",
        lambda door: [
            door.get("/v1/tables/h_big/rows", where="length(repeat(b, 100000)) > 1 OR a > 0"),
            door.get("/v1/tables/h_big/rows", where="levenshtein(repeat(b, 100), repeat(b, 99)) > a"),
        ],
        {200} | REFUSED,
    ),
    attack(
        "window: over everything",
        _view("SELECT a, sum(a) OVER (ORDER BY b, a) AS s, lag(b) OVER (ORDER BY b, a) AS l FROM h_big"),
        {201} | REFUSED,
    ),
    attack(
        "window: wide frames of general aggregates",
        _view(
            "SELECT median(a) OVER (ORDER BY a ROWS BETWEEN 50000 PRECEDING AND CURRENT ROW) AS m FROM h_big"
        ),
        {201} | REFUSED,
    ),
    attack(
        "aggregate: all texts in one",
        _view("SELECT string_agg(b, ',' ORDER BY a) AS s, array_agg(a) AS xs FROM h_big"),
        {201} | REFUSED,
    ),
    attack(
        "aggregate: CUBE of twelve",
        _view(
            "SELECT count(*) AS n FROM h_thousand GROUP BY CUBE ("
            + ", ".join(f"a % {i}" for i in range(2, 14))
            + ")"
        ),
        {201} | REFUSED,
    ),
    attack(
        "aggregate: series for each row",
        _view("SELECT a, i FROM h_big, LATERAL generate_series(1, a) AS s (i)"),
        REFUSED,
    ),
    attack(
        "queries: 45 slow ones at once",
        _at_once(45, _PAIRS),
        {200} | REFUSED,
    ),
    attack(
        "queries: 45 with large answers at once",
        _at_once(45, "SELECT a, b, md5(b) AS c FROM h_big"),
        {200} | REFUSED,
    ),
)
