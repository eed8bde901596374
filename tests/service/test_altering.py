"""ALTER, CREATE OR REPLACE VIEW, COMMENT: what stands afterwards, after a restart, and after kill -9."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from service.running.checkpoints import Checkpoints
from service.settings.settings import Settings
from tests.seeds import SEED, some
from tests.service.client import Client, Process, code
from tests.service.waiting import wait_until

SCHEMA = """
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
CREATE TABLE bag (x INTEGER, y INTEGER NOT NULL);
CREATE VIEW stars AS SELECT * FROM t;
CREATE VIEW counted AS SELECT count(*) AS n FROM stars;
INSERT INTO t VALUES (1, 'x'), (2, NULL);
INSERT INTO bag VALUES (1, 1), (1, 1), (2, 2);
INSERT INTO t VALUES (3, 'z')
"""


class Shop(Client):
    def __enter__(self) -> Shop:
        super().__enter__()
        return self

    def results(self, sql: str) -> list[dict]:
        answer = self.post("/v1/sql", {"sql": sql})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    def select(self, sql: str) -> list[list]:
        return self.results(sql)[-1]["rows"]

    def problem(self, sql: str) -> tuple[int, str, str]:
        answer = self.post("/v1/sql", {"sql": sql})
        return *code(answer), answer.json()["detail"]


@pytest.fixture
def shop(settings: Settings):
    with Shop(settings) as shop:
        shop.results(SCHEMA)
        yield shop


def test_a_column_is_added_at_every_epoch_and_to_no_view(shop: Shop):
    shop.results(
        "ALTER TABLE t ADD COLUMN c TEXT NOT NULL DEFAULT 'new',"
        "ADD COLUMN d INT GENERATED ALWAYS AS (a + 1) STORED"
    )
    assert shop.select("SELECT * FROM t ORDER BY a") == [
        [1, "x", "new", 2],
        [2, None, "new", 3],
        [3, "z", "new", 4],
    ]
    assert shop.select("SELECT a, c, d FROM t VERSION AS OF 1 ORDER BY a") == [[1, "new", 2], [2, "new", 3]]
    assert shop.select("SELECT * FROM stars ORDER BY a") == [[1, "x"], [2, None], [3, "z"]]
    assert shop.select("SELECT n FROM counted VERSION AS OF 1") == [[2]]
    shop.insert("t", {"a": 4, "c": "own"})
    assert shop.select("SELECT c, d FROM t WHERE a = 4") == [["own", 5]]
    assert shop.rows("counted") == [(4,)]


def test_a_type_becomes_wider_with_the_views_over_it(shop: Shop):
    shop.results(
        "CREATE TABLE n (k INTEGER PRIMARY KEY, s SMALLINT, d NUMERIC(4, 2),"
        "g INT GENERATED ALWAYS AS (s * 2))"
    )
    shop.results("CREATE VIEW nv AS SELECT k, s, d FROM n; CREATE VIEW ns AS SELECT s + 1 AS s FROM nv")
    shop.results("CREATE VIEW others AS SELECT k FROM n; INSERT INTO n (k, s, d) VALUES (1, 100, 1.25)")
    assert shop.problem("INSERT INTO n (k, s) VALUES (2, 32768)")[0] == 422
    epoch = shop.runtime.snapshot.upper - 1
    shop.results("ALTER TABLE n ALTER COLUMN s TYPE BIGINT, ALTER COLUMN d SET DATA TYPE NUMERIC(8, 2)")
    shop.results("INSERT INTO n (k, s, d) VALUES (2, 1000000000, 123456.5)")
    assert shop.rows("n") == [(1, 100, "1.25", 200), (2, 1000000000, "123456.50", 2000000000)]
    assert shop.rows("ns") == [(101,), (1000000001,)] and shop.rows("ns", as_of=epoch) == [(101,)]
    assert [c["type"] for c in shop.get("/v1/views/nv").json()["columns"]] == [
        "INTEGER",
        "BIGINT",
        "NUMERIC(8, 2)",
    ]
    for sql, status, told in (
        ("ALTER TABLE n ALTER s TYPE INTEGER", 422, "column s BIGINT of table n cannot become INTEGER"),
        ("ALTER TABLE n ALTER s TYPE TEXT", 422, "cannot become TEXT"),
        ("ALTER TABLE n ALTER d TYPE NUMERIC(9, 3)", 422, "cannot become NUMERIC(9, 3)"),
        ("ALTER TABLE n ALTER g TYPE BIGINT", 409, "column g is computed"),
        ("ALTER TABLE n ALTER s TYPE serial", 422, "serial type is not supported"),
    ):
        found, _, detail = shop.problem(sql)
        assert found == status and told in detail, (sql, detail)


def test_equal_rows_of_a_bag_stay_as_many(shop: Shop):
    shop.results("ALTER TABLE bag ADD COLUMN z INTEGER DEFAULT 7; ALTER TABLE bag DROP COLUMN y")
    assert shop.select("SELECT * FROM bag ORDER BY x") == [[1, 7], [1, 7], [2, 7]]
    assert shop.results("DELETE FROM bag WHERE x = 1")[0]["count"] == 2


def test_names_change_under_a_view(shop: Shop):
    shop.results("ALTER TABLE t RENAME COLUMN b TO note; ALTER TABLE t RENAME TO things")
    shop.results("INSERT INTO things VALUES (4, 'w')")
    assert shop.select("SELECT b FROM stars WHERE a = 4") == [["w"]]
    assert [c["name"] for c in shop.get("/v1/tables/things").json()["columns"]] == ["a", "note"]
    assert code(shop.get("/v1/tables/t")) == (404, "unknown_name")
    shop.results("CREATE TABLE t (z INTEGER); DROP TABLE t; ALTER VIEW stars RENAME TO all_things")
    assert shop.select("SELECT n FROM counted") == [[4]]


def test_a_column_is_renamed_without_the_word_column(shop: Shop):
    shop.results('ALTER TABLE t RENAME b TO "column"; ALTER TABLE t RENAME "column" TO "to"')
    assert [c["name"] for c in shop.get("/v1/tables/t").json()["columns"]] == ["a", "to"]
    assert code(shop.get("/v1/tables/column")) == (404, "unknown_name")
    shop.results('ALTER TABLE t RENAME "to" TO b, ADD CHECK (a > 0)')
    assert [c["name"] for c in shop.get("/v1/tables/t").json()["columns"]] == ["a", "b"]


def test_a_check_needs_no_name_among_other_actions(shop: Shop) -> None:
    shop.results(
        "ALTER TABLE t ADD CHECK (a > 0), ADD c INTEGER, ADD CONSTRAINT d CHECK (c > 0), ADD CHECK (c > a)"
    )
    listed = shop.get("/v1/tables/t").json()["constraints"]
    assert [constraint["name"] for constraint in listed] == ["t_a_check", "d", "t_check"]


def test_constraints_are_judged_for_the_rows_that_are_there(shop: Shop):
    assert shop.problem("ALTER TABLE bag ADD CONSTRAINT one UNIQUE (x)")[:2] == (409, "unique_violated")
    assert shop.problem("ALTER TABLE bag ADD CONSTRAINT big CHECK (x > 1)")[:2] == (422, "check_violated")
    shop.results("ALTER TABLE bag ADD CONSTRAINT in_t FOREIGN KEY (x) REFERENCES t (a)")
    assert shop.problem("INSERT INTO bag VALUES (9, 1)")[:2] == (409, "foreign_key_violated")
    assert shop.problem("DELETE FROM t WHERE a = 2")[:2] == (409, "foreign_key_violated")
    assert shop.problem("ALTER TABLE bag DROP CONSTRAINT in_tt")[:2] == (404, "unknown_constraint")
    shop.results("ALTER TABLE bag DROP CONSTRAINT in_t; INSERT INTO bag VALUES (9, 1)")
    assert shop.problem("ALTER TABLE bag ADD FOREIGN KEY (x) REFERENCES t")[:2] == (
        409,
        "foreign_key_violated",
    )
    assert shop.problem("ALTER TABLE t ALTER b SET NOT NULL")[:2] == (422, "null_not_allowed")
    shop.results("UPDATE t SET b = '' WHERE b IS NULL; ALTER TABLE t ALTER b SET NOT NULL")
    assert shop.problem("INSERT INTO t (a) VALUES (7)")[:2] == (422, "null_not_allowed")
    assert shop.get("/v1/tables/t").json()["columns"][1]["nullable"] is False
    shop.results("ALTER TABLE t ALTER b DROP NOT NULL; INSERT INTO t (a) VALUES (7)")
    shop.results("ALTER TABLE bag ALTER y DROP NOT NULL; INSERT INTO bag (x) VALUES (7)")
    shop.results("ALTER TABLE bag ALTER y SET DEFAULT 3 + 4; INSERT INTO bag (x) VALUES (8)")
    assert shop.select("SELECT y FROM bag WHERE x > 6 ORDER BY x") == [[None], [7], [1]]


UPPER = "CREATE VIEW upper AS SELECT upper(b) AS b FROM stars"
COPY = "CREATE VIEW copy AS SELECT * FROM stars"
FEWER = "CREATE OR REPLACE VIEW stars AS SELECT a FROM t"


CANNOT = [
    ("ALTER TABLE t DROP COLUMN b", 409, "view stars reads column b of table t"),
    ("ALTER TABLE t DROP COLUMN a", 409, "column a is in the primary key of table t"),
    ("ALTER TABLE t DROP COLUMN z", 422, 'table "t" has no column "z"'),
    ("ALTER TABLE t ADD COLUMN b TEXT", 409, "table t has a column b already"),
    ("ALTER TABLE t ADD COLUMN c TEXT NOT NULL", 422, "column c of table t would be NULL"),
    ("ALTER TABLE t RENAME TO bag", 409, "there is a table called bag already"),
    ("ALTER TABLE t RENAME COLUMN a TO b", 409, "table t has a column b already"),
    ("ALTER TABLE nope ADD COLUMN c TEXT", 404, "there is no table called nope"),
    ("ALTER TABLE stars ADD COLUMN c TEXT", 404, "there is no table called stars"),
    ("ALTER TABLE t ADD CHECK (z > 1)", 422, 'table "t" has no column "z"'),
    (f"{UPPER}; {FEWER}", 409, "view upper reads stars and would fail"),
    (f"{COPY}; {FEWER}", 409, "view copy, which reads stars, would be gone"),
    (f"{COPY}; {FEWER.replace('a F', 'a, a AS b F')}", 409, "reads stars, would be b INTEGER"),
    ("CREATE OR REPLACE VIEW stars AS SELECT n AS a, '' AS b FROM counted", 409, "would read itself"),
    ("CREATE OR REPLACE VIEW stars AS SELECT a, b FROM stars", 422, "would read itself"),
    ("DROP VIEW stars", 409, "view stars is read by counted"),
    ("ALTER VIEW stars RENAME TO t", 409, "there is a table called t already"),
    ("COMMENT ON COLUMN t.z IS 'x'", 422, "t has no column z"),
    ("BEGIN; ALTER TABLE t ADD COLUMN c TEXT; COMMIT", 422, "ALTER TABLE between BEGIN and COMMIT"),
]  # fmt: skip


def test_what_cannot_be_altered_stays(shop: Shop) -> None:
    def shown() -> list[list]:
        shown = shop.results("TABLE t; TABLE stars; TABLE counted; SHOW CREATE TABLE t")
        return [result["rows"] for result in shown]

    before = shown()
    for sql, status, detail in CANNOT:
        found, _, told = shop.problem(sql)
        assert found == status and detail in told, sql
        shop.results("DROP VIEW IF EXISTS upper, copy")
        assert shown() == before, sql
        shop.insert("t", {"a": 9})
        assert shop.rows("counted") == [(4,)], sql
        shop.results("DELETE FROM t WHERE a = 9")


def test_what_was_read_before_is_read_anew(shop: Shop):
    assert shop.rows("stars") == [(1, "x"), (2, None), (3, "z")] and shop.rows("counted") == [(3,)]
    assert shop.rows("bag") == [(1, 1), (1, 1), (2, 2)]
    shop.results("CREATE OR REPLACE VIEW stars AS SELECT a + 10 AS a, b FROM t WHERE a < 3")
    shop.results("ALTER TABLE bag DROP COLUMN y")
    assert shop.rows("stars") == [(11, "x"), (12, None)] and shop.rows("counted") == [(2,)]
    assert shop.rows("bag") == [(1,), (1,), (2,)]


def test_a_view_is_replaced_under_its_dependants(shop: Shop):
    shop.results("CREATE OR REPLACE VIEW stars AS SELECT a, b, a * 2 AS c FROM t WHERE a > 1")
    assert shop.rows("counted") == [(2,)]
    shop.insert("t", {"a": 5})
    assert shop.rows("counted") == [(3,)]
    assert shop.select("SELECT c FROM stars WHERE a = 5") == [[10]]
    assert shop.select("SELECT n FROM counted VERSION AS OF 1") == [[2]]


SAME = "CREATE OR REPLACE VIEW stars AS SELECT * FROM t"


def test_a_view_that_is_replaced_by_its_own_query_stays_as_it_is(shop: Shop):
    made = dict(shop.runtime.definitions())
    shop.results(f"{SAME}; CREATE OR REPLACE VIEW counted AS SELECT count(*) AS n FROM stars")
    assert all(shop.runtime.definitions()[name] is made[name] for name in ("stars", "counted"))


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE t ADD COLUMN c TEXT",  # `*` is more now
        "ALTER TABLE t RENAME TO u; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)",  # and another t
        "ALTER TABLE t RENAME COLUMN b TO c; ALTER TABLE t ADD COLUMN b TEXT",
        "CREATE OR REPLACE VIEW stars AS SELECT a, b FROM t",
        "CREATE OR REPLACE VIEW stars AS SELECT * FROM t WHERE a > 1",
    ],
)
def test_the_same_words_may_mean_another_query(shop: Shop, change: str):
    shop.results(f"{change}; DROP VIEW counted")
    made = shop.runtime.definitions()["stars"]
    shop.results(SAME)
    assert shop.runtime.definitions()["stars"] is not made
    assert shop.rows("stars") == [tuple(row) for row in shop.select("SELECT * FROM t ORDER BY a")]


def test_a_view_that_has_failed_is_made_again_by_its_own_query(shop: Shop):
    shop.results("DROP VIEW counted")
    view = shop.runtime.definitions()["stars"]
    shop.runtime._state.definitions.put(replace(view, failure="it was too large"))
    shop.results(SAME)
    assert shop.runtime.definitions()["stars"].failure is None
    assert shop.rows("stars") == [(1, "x"), (2, None), (3, "z")]


def test_what_is_dropped_with_cascade(shop: Shop):
    shop.results("CREATE TABLE r (a INTEGER REFERENCES t); DROP TABLE t CASCADE")
    assert shop.select("SHOW VIEWS") == [] and len(shop.select("SHOW TABLES")) == 2
    shop.results("INSERT INTO r VALUES (77); DROP TABLE IF EXISTS nope, r, bag")
    assert shop.select("SHOW TABLES") == []


def test_a_table_is_made_of_a_query_or_like_another(shop: Shop):
    shop.results("ALTER TABLE t ADD CONSTRAINT pos CHECK (a > 0); CREATE TABLE like_t (LIKE t INCLUDING ALL)")
    assert shop.problem("INSERT INTO like_t VALUES (0, '')")[:2] == (422, "check_violated")
    shop.results("CREATE TABLE made (n, m) AS SELECT a, b || '!' FROM t WHERE b IS NOT NULL")
    assert shop.select("SELECT * FROM made ORDER BY n") == [[1, "x!"], [3, "z!"]]
    shop.results("CREATE TABLE IF NOT EXISTS made AS SELECT 1 AS other")
    shop.results("CREATE TABLE empty AS SELECT a FROM t WITH NO DATA; TABLE empty")
    assert shop.select("TABLE empty") == []


def test_comments_and_creation_are_shown(shop: Shop):
    shop.results(
        "COMMENT ON TABLE t IS 'it''s t'; COMMENT ON COLUMN t.b IS 'b'; COMMENT ON VIEW stars IS 'all'"
    )
    table, view = shop.get("/v1/tables/t").json(), shop.get("/v1/views/stars").json()
    assert (table["comment"], table["columns"][1]["comment"], view["comment"]) == ("it's t", "b", "all")
    ((_, text),) = shop.select("SHOW CREATE TABLE t")
    assert text == (
        "CREATE TABLE t (\n  a INTEGER NOT NULL,\n  b TEXT,\n  PRIMARY KEY (a)\n);\n"
        "COMMENT ON TABLE t IS 'it''s t';\nCOMMENT ON COLUMN t.b IS 'b'"
    )
    assert shop.select("SHOW CREATE VIEW stars")[0][1].startswith("CREATE VIEW stars AS\nSELECT * FROM t;\n")
    assert shop.select("DESCRIBE t") == [
        ["a", "INTEGER", "NO", "PRI", None, None],
        ["b", "TEXT", "YES", None, None, "b"],
    ]
    shop.results(
        "comment on table t is null; comment on column t.b is ''; comment on view stars is 'all of it'"
    )
    assert "comment" not in shop.get("/v1/tables/t").json()
    assert shop.get("/v1/views/stars").json()["comment"] == "all of it"


# After a restart

ALTERATIONS = (
    "ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'ß' NOT NULL",
    "INSERT INTO t VALUES (4, 'w', 'own')",
    "ALTER TABLE t ADD COLUMN g INTEGER GENERATED ALWAYS AS (a * 10) STORED",
    "ALTER TABLE t RENAME TO things",
    "INSERT INTO things (a, b) VALUES (5, 'v')",
    "ALTER TABLE things RENAME COLUMN b TO note",
    "ALTER TABLE things ADD CONSTRAINT one UNIQUE (note)",
    "CREATE OR REPLACE VIEW stars AS SELECT a, note AS b, c FROM things",
    "DELETE FROM things WHERE a = 1",
    "ALTER TABLE bag RENAME TO t",
    "ALTER TABLE t DROP COLUMN y",
    "ALTER TABLE t ALTER x TYPE BIGINT",
    "INSERT INTO t VALUES (6)",
)  # fmt: skip
QUESTIONS = (
    "SELECT * FROM things ORDER BY a",
    "SELECT * FROM things VERSION AS OF 1 ORDER BY a",
    "SELECT * FROM t ORDER BY x",
    "SELECT * FROM stars ORDER BY a",
    "SELECT * FROM counted",
    "SELECT * FROM counted VERSION AS OF 1",
    "SHOW CREATE TABLE things",
    "SHOW TABLES",
    "SHOW VIEWS",
)
ANSWERS = [
    [[2, None, "ß", 20], [3, "z", "ß", 30], [4, "w", "own", 40], [5, "v", "ß", 50]],
    [[1, "x", "ß", 10], [2, None, "ß", 20]],
    [[1], [1], [2], [6]],
    [[2, None, "ß"], [3, "z", "ß"], [4, "w", "own"], [5, "v", "ß"]],
    [[4]],
    [[2]],
]


MIXED = ("..f..c..f..c", "f.....c......", ".c.f.c.f.c.fc", "...ccf.fc..f.")


@pytest.mark.parametrize("ends", ["", "c" * 13, "f" * 13, *some(MIXED)])
def test_alterations_come_back(settings: Settings, monkeypatch: pytest.MonkeyPatch, ends: str):
    """The service ends behind some of the steps: cleanly, with all in files (f), or in a crash (c)."""
    finish = Checkpoints.finish
    shop = Shop(settings).__enter__()
    shop.results(SCHEMA)
    for statement, end in zip(ALTERATIONS, ends.ljust(len(ALTERATIONS), "."), strict=True):
        shop.results(statement)
        if end != ".":
            shop = _again(shop, settings, monkeypatch, finish if end == "f" else _nothing)
    before = [shop.select(question) for question in QUESTIONS]
    assert before[: len(ANSWERS)] == ANSWERS
    shop = _again(shop, settings, monkeypatch, _nothing)
    assert [shop.select(question) for question in QUESTIONS] == before
    assert shop.problem("INSERT INTO things (a, note) VALUES (9, 'z')")[1] == "unique_violated"
    shop.insert("things", {"a": 9, "note": "new"})
    assert shop.rows("counted") == [(5,)]
    shop.__exit__()


def _nothing(checkpoints: Checkpoints) -> None:
    """A crash leaves no checkpoint."""


def _again(shop: Shop, settings: Settings, monkeypatch: pytest.MonkeyPatch, finish: Callable) -> Shop:
    """Another service over the same data, after one that ended as `finish` says."""
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "finish", finish)
        shop.__exit__()
    return Shop(settings).__enter__()


def _run(service: Process, sql: str) -> list[dict]:
    answer = service.http.post("/v1/sql", json={"sql": sql})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_kills_in_the_middle_of_alterations(start: Callable[..., Process]):
    """A column is added and dropped while rows come; after each kill the table and its view are one."""
    chance, done = random.Random(SEED), Counter[str]()
    for kill in range(3):
        service = start(FRESHET_CHECKPOINT_COMMITS="5")
        service.wait_ready()
        if kill == 0:
            _run(service, "CREATE TABLE t (id INTEGER PRIMARY KEY, u INTEGER UNIQUE)")
            _run(service, "CREATE TABLE r (id INTEGER REFERENCES t ON DELETE CASCADE)")
            _run(service, "CREATE VIEW v AS SELECT count(*) AS n, sum(u) AS s FROM t")
        _check(service)
        if kill == 2:
            return
        threads = [
            threading.Thread(target=_write_until_killed, args=(service.url, kill, done)),
            threading.Thread(target=_alter_until_killed, args=(service.url, done)),
        ]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.3, 1.5))
        if kill == 1:
            wait_until(lambda: done["writes"] > 0 and done["alterations"] > 0)
        service.kill()
        for thread in threads:
            thread.join(600)


def _check(service: Process) -> None:
    results = _run(
        service,
        "SELECT count(*), sum(u), count(DISTINCT u), count(u) FROM t; SELECT n, s FROM v;"
        "SELECT count(*) FROM r WHERE id NOT IN (SELECT id FROM t)",
    )
    ((count, total, distinct, all_u),) = results[0]["rows"]
    assert results[1]["rows"] == [[count, total]]
    assert distinct == all_u
    assert results[2]["rows"] == [[0]]
    columns = [c["name"] for c in _run(service, "SELECT * FROM t")[0]["columns"]]
    assert columns in (["id", "u"], ["id", "u", "c"])
    if "c" in columns:
        assert _run(service, "SELECT count(*) FROM t WHERE c <> 'd'")[0]["rows"] == [[0]]


def _write_until_killed(url: str, kill: int, done: Counter[str]) -> None:
    chance = random.Random(SEED + kill)
    with httpx.Client(base_url=url, timeout=240) as http:
        try:
            while True:
                id = chance.randrange(30)
                sql = chance.choice(
                    [
                        f"INSERT INTO t (id, u) VALUES ({id}, {chance.randrange(30)}) ON CONFLICT DO NOTHING",
                        f"INSERT INTO r VALUES ({id})",
                        f"DELETE FROM t WHERE id = {id}",
                        f"UPDATE t SET u = {chance.randrange(30)} WHERE id = {id}",
                    ]
                )
                status = http.post("/v1/sql", json={"sql": sql}).status_code
                assert status in (200, 409)
                done["writes"] += status == 200
        except httpx.TransportError:
            pass


def _alter_until_killed(url: str, done: Counter[str]) -> None:
    with httpx.Client(base_url=url, timeout=240) as http:
        try:
            while True:
                for sql in (
                    "ALTER TABLE t ADD COLUMN IF NOT EXISTS c TEXT DEFAULT 'd' NOT NULL",
                    "ALTER TABLE t DROP COLUMN IF EXISTS c",
                ):
                    answer = http.post("/v1/sql", json={"sql": sql})
                    assert answer.status_code == 200, answer.text
                    done["alterations"] += 1
        except httpx.TransportError:
            pass


def test_a_primary_key_is_added_with_the_history(settings: Settings) -> None:
    """The table takes keys from then on, views over it go on, and it is so after a start."""
    with Shop(settings) as shop:
        shop.results(SCHEMA)
        shop.results("CREATE TABLE late (id INT, v TEXT); CREATE VIEW of_late AS SELECT * FROM late")
        shop.results("INSERT INTO late VALUES (2, 'b'), (1, 'a'); UPDATE late SET v = 'c' WHERE id = 1")
        before = shop.results("SHOW TABLES")[0]["epoch"]
        shop.results("ALTER TABLE ONLY late ADD CONSTRAINT late_pkey PRIMARY KEY (id)")
        assert shop.problem("INSERT INTO late VALUES (1, 'x')")[1] == "key_exists"
        assert shop.problem("INSERT INTO late VALUES (NULL, 'x')")[1] == "null_not_allowed"
        shop.results("INSERT INTO late VALUES (1, 'd') ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v")
    with Shop(settings) as shop:
        assert shop.select("SELECT * FROM of_late ORDER BY id") == [[1, "d"], [2, "b"]]
        assert shop.select(f"SELECT * FROM late VERSION AS OF {before} ORDER BY id") == [[1, "c"], [2, "b"]]
        assert shop.problem("INSERT INTO late VALUES (2, 'x')")[1] == "key_exists"
        assert shop.problem("ALTER TABLE late ADD PRIMARY KEY (v)")[1] == "name_in_use"


def test_a_primary_key_is_refused_that_rows_have_twice(shop: Shop) -> None:
    assert shop.problem("ALTER TABLE bag ADD PRIMARY KEY (x)")[1] == "unique_violated"
    shop.results("DELETE FROM bag WHERE x = 1")  # the past still has them
    assert shop.problem("ALTER TABLE bag ADD PRIMARY KEY (x)")[1] == "unique_violated"
    shop.results("CREATE TABLE n (a INT); INSERT INTO n VALUES (NULL)")
    assert shop.problem("ALTER TABLE n ADD PRIMARY KEY (a)")[1] == "null_not_allowed"


def test_a_table_takes_the_place_of_another(settings: Settings) -> None:
    with Shop(settings) as shop:
        shop.results(SCHEMA)
        assert shop.problem("CREATE OR REPLACE TABLE t (z INT)")[1] == "in_use"
        assert shop.problem("CREATE OR REPLACE TABLE stars (z INT)")[1] == "name_in_use"
        assert shop.problem("CREATE OR REPLACE TABLE bag (z INT DEFAULT nope)")[0] == 422
        assert shop.select("SELECT count(*) FROM bag") == [[3]]
        shop.results("CREATE OR REPLACE TABLE bag AS SELECT x + y AS z FROM bag; INSERT INTO bag VALUES (9)")
    with Shop(settings) as shop:
        assert shop.select("SELECT z FROM bag ORDER BY z") == [[2], [2], [4], [9]]
        shop.results("CREATE OR REPLACE TABLE fresh (a INT PRIMARY KEY)")
        assert shop.select("SELECT * FROM fresh") == []


def test_a_column_takes_the_numbers_of_a_sequence(shop: Shop) -> None:
    """As dumps of PostgreSQL's say it."""
    shop.results(
        "CREATE SEQUENCE t_a_seq AS INTEGER START WITH 1; ALTER SEQUENCE t_a_seq OWNED BY public.t.a"
    )
    shop.results("ALTER TABLE ONLY public.t ALTER COLUMN a SET DEFAULT nextval('public.t_a_seq'::regclass)")
    shop.results("SELECT pg_catalog.setval('public.t_a_seq', 33, true); INSERT INTO t (b) VALUES ('n')")
    assert shop.select("SELECT max(a) FROM t") == [[34]]
    assert (
        shop.problem("ALTER TABLE bag ALTER COLUMN x SET DEFAULT nextval('t_a_seq')")[1] == "null_not_allowed"
    )
    assert shop.problem("DROP SEQUENCE t_a_seq")[1] == "in_use"
    shop.results("ALTER TABLE t ALTER COLUMN a DROP DEFAULT; DROP SEQUENCE t_a_seq")
    assert shop.problem("INSERT INTO t (b) VALUES ('n')")[1] == "null_not_allowed"


def test_a_recursive_view_reads_itself(shop: Shop) -> None:
    shop.results(
        "CREATE RECURSIVE VIEW up (n, text) AS SELECT a, b FROM t WHERE a = 1 "
        "UNION SELECT t.a, t.b FROM up JOIN t ON t.a = up.n + 1"
    )
    assert shop.select("SELECT n FROM up ORDER BY n") == [[1], [2], [3]]
    shop.results("DELETE FROM t WHERE a = 2")
    assert shop.select("SELECT n FROM up") == [[1]]
    assert shop.problem("CREATE RECURSIVE VIEW no AS SELECT 1")[1] == "syntax_error"
    answer = shop.post("/v1/sql", {"sql": "CREATE RECURSIVE VIEW u (n) AS SELECT 1 UNION SELECT nope FROM u"})
    assert answer.json()["position"] == {"line": 1, "column": 54}
