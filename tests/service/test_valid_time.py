"""Tables and views with valid time over the SQL door: made, read, changed in portions, kept apart, kept."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, Process, code

SALARIES = """
CREATE TABLE salaries (id BIGINT PRIMARY KEY, dept TEXT, pay BIGINT, PERIOD VALID_TIME);
CREATE VIEW totals AS SELECT dept, CAST(sum(pay) AS BIGINT) AS total FROM salaries GROUP BY dept;
CREATE VIEW best AS SELECT dept FROM totals ORDER BY total DESC, dept LIMIT 1;
INSERT INTO salaries VALUES (1, 'x', 10, '2020-01-01', NULL), (2, 'y', 20, '2020-02-01', '2020-05-01');
"""


def day(month: int, year: int = 2020) -> str:
    return f"{year}-{month:02}-01T00:00:00Z"


def ask(client: Client, sql: str) -> list[list[object]]:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == 200, answer.json()
    rows: list[list[object]] = answer.json()["results"][-1].get("rows", [])
    return rows


def refused(client: Client, sql: str) -> tuple[int, str]:
    answer = client.post("/v1/sql", {"sql": sql})
    return code(answer)


def periods(client: Client, table: str, of: str = "id, pay", more: str = "") -> list[list[object]]:
    order = ", ".join(map(str, range(1, of.count(",") + 4)))
    found = f"SELECT {of}, valid_from, valid_to FROM {table} FOR VALID_TIME ALL {more} ORDER BY {order}"
    return ask(client, found)


def test_a_table_is_shown_as_it_was_made(client: Client) -> None:
    ask(client, SALARIES)
    ((_, text),) = ask(client, "SHOW CREATE TABLE salaries")
    assert "PERIOD VALID_TIME" in str(text) and "valid_from" not in str(text)
    ask(client, f"DROP VIEW best; DROP VIEW totals; DROP TABLE salaries; {text}")
    ask(client, "CREATE TABLE other (v TEXT) WITH (valid_time)")
    ask(client, "INSERT INTO other VALUES ('a', '2020-01-01', NULL), ('a', '2020-01-01', NULL)")
    assert ask(client, "SELECT * FROM other") == [["a"], ["a"]]


def test_a_view_has_the_periods_of_its_rows(client: Client) -> None:
    ask(client, SALARIES)
    assert periods(client, "totals", "dept, total") == [
        ["x", 10, day(1), None],
        ["y", 20, day(2), day(5)],
    ]
    assert periods(client, "best", "dept") == [
        ["x", day(1), day(2)],
        ["x", day(5), None],
        ["y", day(2), day(5)],
    ]


CLAUSES = [
    ("", ["x"]),
    ("FOR VALID_TIME AS OF '2020-03-01'", ["x", "y"]),
    ("FOR VALID_TIME AS OF TIMESTAMPTZ '2020-01-31 23:59:59.999999+00' AS t", ["x"]),
    ("FOR VALID_TIME AS OF '2020-02-01' t", ["x", "y"]),
    ("FOR VALID_TIME AS OF '2020-05-01'", ["x"]),
    ("FOR VALID_TIME AS OF '2019-05-01'", []),
    ("FOR VALID_TIME FROM '2019-01-01' TO '2020-02-01'", ["x"]),
    ("FOR VALID_TIME BETWEEN '2019-01-01' AND '2020-02-01'", ["x", "y"]),
    ("FOR VALID_TIME FROM '2020-05-01' TO NULL", ["x"]),
    ("FOR ALL VALID_TIME", ["x", "y"]),
]


def test_clauses_choose_rows(client: Client) -> None:
    ask(client, SALARIES)
    for clause, depts in CLAUSES:
        for relation in ("salaries", "totals"):
            found = ask(client, f"SELECT dept FROM {relation} {clause} ORDER BY dept")
            assert found == [[dept] for dept in depts], (relation, clause)


EMPTY = [
    ("FROM '2020-04-01' TO '2020-03-01'", []),
    ("FROM '2020-03-01' TO '2020-03-01'", []),
    ("FROM '2020-03-01' TO '2020-03-02'", ["x", "y"]),
    ("BETWEEN '2020-04-01' AND '2020-03-01'", []),
    ("BETWEEN '2020-05-01' AND '2020-05-01'", ["x"]),
    ("BETWEEN '2020-02-01' AND '2020-02-01'", ["x", "y"]),
    ("FROM now() TO '2020-03-01'", []),
    ("FROM '2020-03-01' TO now()", ["x", "y"]),
    ("FROM now() TO now()", []),
    ("BETWEEN now() AND now()", ["x"]),
    ("FROM (now() - INTERVAL '1 day') TO now()", ["x"]),
    ("FROM now() TO now() - INTERVAL '1 day'", []),
    ("FROM (now() - INTERVAL '1 month') TO now()", ["x"]),
    ("FROM NULL TO NULL", ["x", "y"]),
]


def test_a_range_without_a_moment_has_no_rows(client: Client) -> None:
    """Of tables and of views: by constants, parameters and columns of the tables before it, and in views."""
    ask(client, SALARIES + "CREATE TABLE ranges (a TIMESTAMPTZ, b TIMESTAMPTZ)")
    for number, (range, depts) in enumerate(EMPTY):
        for relation in ("salaries", "totals"):
            query = f"SELECT dept FROM {relation} FOR VALID_TIME {range}"
            assert ask(client, f"{query} ORDER BY dept") == [[dept] for dept in depts], query
            ask(client, f"CREATE VIEW {relation}{number} AS {query}")
            assert sorted(client.rows(f"{relation}{number}")) == [(dept,) for dept in depts], query
    for kind, middle, same in (("FROM", "TO", 0), ("BETWEEN", "AND", 2)):
        of_row = f"salaries FOR VALID_TIME {kind} r.a {middle} r.b AS s"
        query = f"SELECT r.a, s.dept FROM ranges r JOIN {of_row} ON TRUE"
        ask(client, f"CREATE VIEW of_ranges{same} AS {query}")
        for a, b, number in (("2020-03-01", "2020-03-01", same), ("2020-04-01", "2020-03-01", 0)):
            found = f"SELECT dept FROM salaries FOR VALID_TIME {kind} $1 {middle} $2"
            answer = client.post("/v1/sql", {"sql": found, "parameters": [a, b]})
            assert len(answer.json()["results"][-1]["rows"]) == number, answer.text
            ask(client, f"DELETE FROM ranges; INSERT INTO ranges VALUES ('{a}', '{b}')")
            assert len(ask(client, query)) == number == len(client.rows(f"of_ranges{same}"))


def test_a_portion_is_changed_and_the_rest_stays(client: Client) -> None:
    ask(client, SALARIES)
    ask(
        client,
        "UPDATE salaries FOR PORTION OF VALID_TIME FROM '2020-03-01' TO '2020-04-01' SET pay = pay + 5",
    )
    assert periods(client, "salaries") == [
        [1, 10, day(1), day(3)],
        [1, 10, day(4), None],
        [1, 15, day(3), day(4)],
        [2, 20, day(2), day(3)],
        [2, 20, day(4), day(5)],
        [2, 25, day(3), day(4)],
    ]
    ask(
        client, "DELETE FROM salaries FOR PORTION OF VALID_TIME FROM '2020-03-15' TO NULL AS s WHERE s.id = 1"
    )
    assert periods(client, "salaries", more="WHERE id = 1") == [
        [1, 10, day(1), day(3)],
        [1, 15, day(3), "2020-03-15T00:00:00Z"],
    ]
    ask(client, "UPDATE salaries FOR PORTION OF VALID_TIME FROM NULL TO NULL SET pay = 1 WHERE id = 2")
    assert {pay for _, pay, *_ in periods(client, "salaries", more="WHERE id = 2")} == {1}
    assert periods(client, "totals", "dept, total", "WHERE dept = 'y'") == [["y", 1, day(2), day(5)]]


def test_a_change_without_a_portion_counts_from_now_on(client: Client) -> None:
    ask(client, SALARIES)
    assert ask(client, "UPDATE salaries SET pay = 11 WHERE id IN (1, 2) RETURNING id, pay") == [[1, 11]]
    (old, new, other) = periods(client, "salaries")
    assert old[:3] == [1, 10, day(1)] and new[:2] == [1, 11] and old[3] == new[2] and new[3] is None
    assert other == [2, 20, day(2), day(5)]
    assert ask(client, "SELECT id, pay FROM salaries") == [[1, 11]]
    ask(client, "DELETE FROM salaries")
    assert ask(client, "SELECT id, pay FROM salaries") == []
    assert len(periods(client, "salaries")) == 3
    ask(client, "INSERT INTO salaries (id, pay) VALUES (1, 12)")
    assert ask(client, "SELECT id, pay FROM salaries") == [[1, 12]]
    ask(client, "DELETE FROM salaries FOR VALID_TIME ALL")
    assert periods(client, "salaries") == [] == periods(client, "totals", "dept")


def test_periods_of_a_key_stay_apart(client: Client) -> None:
    ask(client, SALARIES)
    overlap = (409, "periods_overlap")
    assert refused(client, "INSERT INTO salaries VALUES (1, 'x', 1, '2021-01-01', NULL)") == overlap
    assert refused(client, "INSERT INTO salaries VALUES (2, 'x', 1, '2019-01-01', '2020-02-02')") == overlap
    many = "(7, 'x', 1, '2019-01-01', '2019-03-01'), (7, 'x', 2, '2019-02-01', '2019-04-01')"
    assert refused(client, f"INSERT INTO salaries VALUES {many}") == overlap
    around = "(2, 'x', 1, '2019-01-01', '2020-02-01'), (2, 'y', 1, '2020-05-01', NULL)"
    ask(client, f"INSERT INTO salaries VALUES {around}")
    swapped = (
        "BEGIN; DELETE FROM salaries FOR VALID_TIME ALL WHERE id = 1;"
        "INSERT INTO salaries VALUES (1, 'x', 1, '2018-01-01', NULL); COMMIT"
    )
    ask(client, swapped)
    assert periods(client, "salaries", more="WHERE id = 1") == [[1, 1, day(1, 2018), None]]
    row = {"id": 1, "pay": 3, "valid_from": day(6), "valid_to": None}
    assert code(client.deltas("salaries", {"insert": row})) == overlap


def test_many_requests_at_once_are_judged_one_by_one(client: Client) -> None:
    """In any order: rows that are taken do not overlap, and each that is refused overlaps one of them."""
    ask(client, "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT, PERIOD VALID_TIME)")
    rows = [(k, m, m + length) for k in (1, 2) for m in range(1, 9) for length in (1, 2, 3)]
    random.Random(5).shuffle(rows)
    bodies = (
        [{"insert": {"k": k, "v": i, "valid_from": day(since), "valid_to": day(until)}}]
        for i, (k, since, until) in enumerate(rows)
    )
    answers = client.together(*(client.http.post("/v1/tables/t/deltas", json=body) for body in bodies))
    taken = [row for row, answer in zip(rows, answers, strict=True) if answer.status_code == 200]
    for row, answer in zip(rows, answers, strict=True):
        k, since, until = row
        others = [(a, b) for key, a, b in taken if key == k and (key, a, b) != row]
        overlaps = any(a < until and since < b for a, b in others)
        assert answer.status_code == (409 if overlaps else 200), (row, answer.text)
    assert len(periods(client, "t", "k")) == len(taken)


REFUSED = [
    ("SELECT * FROM plain FOR VALID_TIME ALL", "invalid_query"),
    ("UPDATE plain FOR PORTION OF VALID_TIME FROM NULL TO NULL SET id = 1", "invalid_query"),
    ("WITH c AS (SELECT 1) SELECT * FROM c FOR VALID_TIME ALL", "invalid_query"),
    ("SELECT * FROM nothing FOR VALID_TIME ALL", "unknown_table"),
    ("SELECT * FROM salaries FOR VALID_TIME SINCE '2020-01-01'", "syntax_error"),
    ("SELECT * FROM salaries FOR VALID_TIME FROM '2020-01-01'", "syntax_error"),
    ("SELECT * FROM salaries FOR PORTION OF VALID_TIME FROM NULL TO NULL", "unsupported_sql"),
    ("UPDATE salaries FOR VALID_TIME AS OF now() SET pay = 1", "unsupported_sql"),
    ("UPDATE salaries SET valid_to = NULL", "invalid_query"),
    ("MERGE INTO salaries s USING plain p ON p.id = s.id WHEN MATCHED THEN DELETE", "unsupported_sql"),
    ("CREATE TABLE u (id BIGINT UNIQUE, PERIOD VALID_TIME)", "unsupported_sql"),
    ("CREATE TABLE u (valid_to BIGINT, PERIOD VALID_TIME)", "invalid_query"),
    ("CREATE TABLE u (id BIGINT REFERENCES plain, PERIOD VALID_TIME)", "unsupported_sql"),
    ("ALTER TABLE salaries DROP COLUMN valid_from", "in_use"),
    ("ALTER TABLE salaries RENAME COLUMN valid_to TO x", "in_use"),
    ("ALTER TABLE salaries DROP CONSTRAINT salaries_valid_time", "in_use"),
    ("ALTER TABLE salaries ADD UNIQUE (pay)", "unsupported_sql"),
    ("INSERT INTO salaries VALUES (5, 'x', 1, '2020-02-01', '2020-02-01')", "check_violated"),
    ("INSERT INTO salaries VALUES (5, 'x', 1, '2020-02-01', 'infinity')", "check_violated"),
    ("INSERT INTO salaries VALUES (5, 'x', 1, NULL, NULL)", "null_not_allowed"),
    ("EXPLAIN WHY SELECT * FROM totals", "unsupported_sql"),
    ("EXPLAIN WHY SELECT dept FROM totals FOR VALID_TIME AS OF '2020-03-01'", "unsupported_sql"),
    ("CREATE VIEW v AS SELECT id FROM salaries WHERE valid_from < now()", "unknown_column"),
    (
        "CREATE VIEW v AS SELECT id FROM salaries "
        "WHERE now() < '2020-01-01'::timestamptz + pay * INTERVAL '1 day'",
        "unsupported_sql",
    ),
    ("CREATE VIEW v AS SELECT id AS valid_from FROM salaries", "invalid_query"),
    (
        "CREATE VIEW v AS SELECT id FROM salaries "
        "FOR VALID_TIME FROM (now() - INTERVAL '1 month') TO (now() - INTERVAL '30 days')",
        "unsupported_sql",
    ),
    (
        "CREATE VIEW v AS SELECT id FROM salaries FOR VALID_TIME ALL FOR SYSTEM_TIME AS OF 3",
        "unsupported_sql",
    ),
    ("CREATE VIEW v AS SELECT id FROM plain FOR VALID_TIME ALL", "invalid_query"),
]


def test_what_cannot_be_meant_is_refused(client: Client) -> None:
    ask(client, SALARIES + "CREATE TABLE plain (id BIGINT PRIMARY KEY)")
    for sql, expected in REFUSED:
        assert refused(client, sql)[1] == expected, sql


MOMENT = "the moments are columns of `{} FOR VALID_TIME ALL`"


@pytest.mark.parametrize(
    ("sql", "relation"),
    [
        ("SELECT *, valid_from FROM totals", "totals"),
        ("SELECT t.valid_to FROM totals t", "totals"),
        ("SELECT id FROM salaries FOR VALID_TIME AS OF '2020-03-01' WHERE valid_to IS NULL", "salaries"),
        ("CREATE VIEW v AS SELECT *, valid_from FROM totals", "totals"),
        ("CREATE VIEW v AS SELECT 1 AS a FROM plain JOIN totals AS t ON valid_to IS NULL", "totals"),
    ],
)
def test_moments_that_are_left_out(client: Client, sql: str, relation: str) -> None:
    ask(client, SALARIES + "CREATE TABLE plain (id BIGINT PRIMARY KEY)")
    answer = client.post("/v1/sql", {"sql": sql})
    assert code(answer)[1] == "unknown_column" and answer.json()["hint"] == MOMENT.format(relation)


def test_names_that_are_no_moments(client: Client) -> None:
    ask(client, SALARIES)
    assert ask(client, "SELECT 1 AS valid_from FROM salaries ORDER BY valid_from") == [[1]]
    assert ask(client, "SELECT valid_from FROM salaries AS s (valid_from, a, b)") == [[1]]


def test_a_period_cannot_be_added(client: Client) -> None:
    ask(client, "CREATE TABLE events (id BIGINT PRIMARY KEY)")
    answer = client.post("/v1/sql", {"sql": "ALTER TABLE public.events ADD PERIOD VALID_TIME"})
    assert code(answer)[1] == "unsupported_sql" and "cannot be added" in answer.text
    assert "make a table with PERIOD VALID_TIME and insert the rows there" in answer.json()["hint"]


def test_both_clocks(client: Client) -> None:
    ask(client, SALARIES)
    before = client.get("/v1/epochs").json()["epochs"][-1]["epoch"]
    ask(client, "UPDATE salaries FOR PORTION OF VALID_TIME FROM '2020-01-01' TO '2020-02-01' SET pay = 7")
    for more, total in (("", 7), (f" FOR SYSTEM_TIME AS OF {before}", 10)):
        as_of = f"SELECT total FROM totals FOR VALID_TIME AS OF '2020-01-10'{more}"
        assert ask(client, as_of) == [[total]]
    swapped = f"SELECT total FROM totals VERSION AS OF {before} FOR VALID_TIME AS OF '2020-01-10'"
    assert ask(client, swapped) == [[10]]


def test_columns_that_come_later_stand_before_the_period(client: Client) -> None:
    ask(client, SALARIES)
    ask(client, "ALTER TABLE salaries ADD COLUMN note TEXT DEFAULT 'n'")
    ask(client, "CREATE VIEW every AS SELECT * FROM salaries")
    assert ask(client, "SELECT * FROM every") == [[1, "x", 10, "n"]]
    assert periods(client, "every", "id, note") == [[1, "n", day(1), None], [2, "n", day(2), day(5)]]
    assert periods(client, "best", "dept")[0] == ["x", day(1), day(2)]


def test_an_assertion_holds_at_every_valid_time(client: Client) -> None:
    ask(client, SALARIES)
    ask(client, "CREATE ASSERTION low CHECK (NOT EXISTS (SELECT dept FROM totals WHERE total > 25))")
    ask(client, "INSERT INTO salaries VALUES (3, 'y', 20, '2020-05-01', NULL)")
    insert = "INSERT INTO salaries VALUES (4, 'x', 20, '2021-01-01', '2021-02-01')"
    answer = client.post("/v1/sql", {"sql": insert})
    assert code(answer) == (409, "assertion_broken")
    assert "valid_from = 2021-01-01T00:00:00Z, valid_to = 2021-02-01T00:00:00Z" in answer.json()["detail"]


def test_a_table_is_read_at_the_time_of_each_row(client: Client) -> None:
    ask(client, SALARIES + "CREATE TABLE events (at TIMESTAMPTZ, id BIGINT)")
    paid = "SELECT e.id, s.pay FROM events e LEFT JOIN salaries FOR VALID_TIME AS OF e.at AS s ON s.id = e.id"
    ask(client, f"CREATE VIEW paid AS {paid}")
    ask(client, "INSERT INTO events VALUES ('2020-03-01', 1), ('2019-01-01', 1), ('2020-05-01', 2)")
    ask(
        client, "UPDATE salaries FOR PORTION OF VALID_TIME FROM '2020-03-01' TO NULL SET pay = 6 WHERE id = 1"
    )
    assert ask(client, f"{paid} ORDER BY 1, 2") == [[1, 6], [1, None], [2, None]]
    assert ask(client, "SELECT * FROM paid ORDER BY 1, 2") == [[1, 6], [1, None], [2, None]]


def test_views_over_a_replaced_view_keep_their_valid_time(client: Client) -> None:
    """Also where the columns would stay, as plain ones."""
    ask(client, SALARIES + "CREATE VIEW copy AS SELECT * FROM totals; DROP VIEW best")
    for query in (
        "SELECT dept, 1::BIGINT AS total FROM salaries FOR VALID_TIME AS OF now()",
        "SELECT dept, pay AS total, valid_from, valid_to FROM salaries FOR VALID_TIME ALL",
    ):
        answer = client.post("/v1/sql", {"sql": f"CREATE OR REPLACE VIEW totals AS {query}"})
        assert code(answer) == (409, "in_use")
        assert answer.json()["detail"] == "view copy, which reads totals, would lose its valid time"
    ask(client, "CREATE OR REPLACE VIEW totals AS SELECT dept, max(pay) AS total FROM salaries GROUP BY dept")
    assert len(periods(client, "copy", "dept, total")) == 2


def test_a_restart_keeps_everything(settings: Settings) -> None:
    def state(client: Client) -> list[list[list[object]]]:
        return [periods(client, name, "dept") for name in ("salaries", "totals", "best")]

    with Client(settings) as client:
        ask(client, SALARIES)
        ask(client, "UPDATE salaries SET pay = 11 WHERE id = 1")
        before = state(client)
    for _ in range(2):
        with Client(settings) as client:
            assert state(client) == before
            again = "INSERT INTO salaries VALUES (1, 'x', 1, '2021-01-01', NULL)"
            assert refused(client, again) == (409, "periods_overlap")
            ask(client, "UPDATE salaries FOR VALID_TIME ALL SET pay = pay + 1")
            before = state(client)
    with Client(settings) as client:
        ask(client, "DELETE FROM salaries FOR VALID_TIME ALL")
        assert state(client) == [[], [], []]


def test_a_killed_service_has_what_it_acknowledged(start: Callable[..., Process]) -> None:
    def ask_process(process: Process, sql: str) -> list[list[object]]:
        answer = process.http.post("/v1/sql", json={"sql": sql})
        assert answer.status_code == 200, answer.text
        rows: list[list[object]] = answer.json()["results"][-1].get("rows", [])
        return rows

    process = start()
    process.wait_ready()
    ask_process(process, SALARIES)
    every = "SELECT dept, valid_from FROM best FOR VALID_TIME ALL ORDER BY 2"
    before = ask_process(process, every)
    process.kill()
    process = start()
    process.wait_ready()
    assert ask_process(process, every) == before and len(before) == 3


def test_a_view_as_of_now_follows_the_clock(settings: Settings) -> None:
    seconds = [1_600_000_000_000_000]
    with Client(settings, time=lambda: seconds[0]) as client:
        ask(client, "CREATE TABLE t (k BIGINT PRIMARY KEY, PERIOD VALID_TIME)")
        ask(client, "CREATE VIEW current AS SELECT k FROM t FOR VALID_TIME AS OF now()")
        ask(client, "INSERT INTO t VALUES (1, '2020-01-01', '2020-09-14'), (2, '2020-09-14', NULL)")
        assert client.rows("current") == [(1,)]
        seconds[0] += 86_400_000_000
        ask(client, "INSERT INTO t VALUES (3, '2030-01-01', NULL)")
        assert client.rows("current") == [(2,)]


def test_rows_are_read_at_a_valid_time(client: Client) -> None:
    ask(client, SALARIES)
    for at, ids in (("2020-01-15", [1]), ("2020-03-01", [1, 2]), ("2020-05-01", [1]), ("2019-01-01", [])):
        assert [row[0] for row in client.rows("salaries", valid_at=f"{at}T00:00:00Z")] == ids
        where = client.rows("salaries", valid_at=f"{at}T00:00:00+00:00", where="pay > 5", order_by="pay DESC")
        assert [row[0] for row in where] == ids[::-1]
    assert sorted(client.rows("totals", valid_at=day(3))) == [("x", 10), ("y", 20)]
    assert len(client.rows("salaries")[0]) == 5
    page = client.get("/v1/tables/salaries/rows", valid_at=day(3), limit=1).json()
    assert [column["name"] for column in page["columns"]] == ["id", "dept", "pay"]
    rest = client.get("/v1/tables/salaries/rows", cursor=page["next"], limit=1).json()
    assert (page["rows"][0]["id"], rest["rows"][0]["id"], rest["next"]) == (1, 2, None)
    other = client.get("/v1/tables/salaries/rows", cursor=page["next"], valid_at=day(4))
    assert code(other) == (400, "cursor_mismatch")
    csv = client.get("/v1/views/best/rows", valid_at=day(3), format="csv").text
    assert csv == "dept\r\ny\r\n"
    epoch = client.get("/v1/epochs").json()["epochs"][-1]["epoch"]
    ask(client, "DELETE FROM salaries FOR VALID_TIME ALL")
    assert client.rows("totals", valid_at=day(3)) == []
    assert sorted(client.rows("totals", valid_at=day(3), as_of=epoch)) == [("x", 10), ("y", 20)]
    for relation, at in (("salaries", "yesterday"), ("salaries", "2020-01-01"), ("plain", day(1))):
        ask(client, "CREATE TABLE IF NOT EXISTS plain (id BIGINT)")
        assert code(client.get(f"/v1/tables/{relation}/rows", valid_at=at)) == (400, "invalid_valid_at")
