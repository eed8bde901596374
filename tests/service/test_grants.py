"""Roles in SQL: each statement with each privilege, and what hidden relations look like."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner.errors import PlannerError
from planner.statements.drop_statements import DropRole
from planner.statements.role_statements import CreateRole, Grant, Revoke
from planner.statements.statement_reader import parse_script
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_authorization import bearer, make_key

SETUP = """
CREATE TABLE t (a BIGINT PRIMARY KEY, b TEXT); CREATE TABLE u (a BIGINT PRIMARY KEY, b TEXT);
CREATE TABLE hidden (a BIGINT); CREATE VIEW v AS SELECT a FROM hidden; INSERT INTO t VALUES (1, 'x');
CREATE ROLE r
"""


class Door:
    """Runs scripts as an admin, and as the holder of a key of role `r`."""

    def __init__(self, client: Client) -> None:
        self.client = client
        assert client.post("/v1/sql", {"sql": SETUP}).status_code == 200
        self.admin_key = make_key(client, "boss", "admin")["key"]
        self.key = make_key(client, "one", "r", by=self.admin_key)["key"]

    def admin(self, sql: str) -> None:
        answer = self.client.post("/v1/sql", {"sql": sql}, headers=bearer(self.admin_key))
        assert answer.status_code == 200, answer.text

    def ask(self, sql: str, key: str = ""):
        return self.client.post("/v1/sql", {"sql": sql}, headers=bearer(key or self.key))

    def allows(self, sql: str, key: str = "") -> bool:
        """Whether the role may run the statement: it does what it says, or gets 403."""
        answer = self.ask(sql, key)
        if answer.status_code == 200:
            return True
        hidden = (422, "unknown_table") if sql.startswith("EXPLAIN") else (403, "forbidden")
        assert code(answer) == hidden, (sql, answer.text)
        return False


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Client(Settings(data=tmp_path_factory.mktemp("grants") / "data")) as client:
        yield Door(client)


@pytest.fixture
def clean(door: Door) -> Iterator[Door]:
    yield door
    door.admin("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM r; REVOKE admin FROM r")


NEEDED = {
    "SELECT * FROM t": "SELECT",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM t)": "SELECT",
    "WITH t2 AS (SELECT * FROM t) SELECT * FROM t2": "SELECT",
    "SELECT * FROM t VERSION AS OF 1": "SELECT",
    "TABLE t": "SELECT",
    "EXPLAIN SELECT * FROM t": "SELECT",
    "INSERT INTO t VALUES (5, 'y') ON CONFLICT DO NOTHING": "INSERT SELECT",
    "INSERT INTO t VALUES (5, 'y') ON CONFLICT (a) DO UPDATE SET b = 'z'": "INSERT SELECT UPDATE",
    "INSERT INTO t SELECT 100 + (SELECT max(a) FROM t), 'n'": "INSERT SELECT",
    "INSERT INTO t VALUES ((SELECT 1 + max(a) FROM t), 'n')": "INSERT SELECT",
    "UPDATE t SET b = 'w' WHERE a = 1": "UPDATE SELECT",
    "UPDATE t SET b = 'w'": "UPDATE SELECT",
    "DELETE FROM t WHERE a = 77": "DELETE SELECT",
    "DELETE FROM t WHERE a = 77 RETURNING a": "DELETE SELECT",
    "TRUNCATE u, t": "",
    "MERGE INTO t USING (SELECT 1 AS a) s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 'm'": "UPDATE SELECT",
    "MERGE INTO t USING (SELECT 9 AS a) s ON t.a = s.a WHEN MATCHED THEN DELETE": "DELETE SELECT",
    "MERGE INTO t USING (SELECT 1 AS a) s ON t.a = s.a WHEN NOT MATCHED THEN INSERT VALUES (1, 'x')": (
        "INSERT SELECT"
    ),
    "MERGE INTO t USING (SELECT 1 AS a) s ON t.a = s.a WHEN MATCHED THEN DO NOTHING": "SELECT",
    "BEGIN; SELECT * FROM t; COMMIT": "SELECT",
    "SELECT a FROM t UNION SELECT a FROM u": "",
}
ALL = ("SELECT", "INSERT", "UPDATE", "DELETE")


@pytest.mark.parametrize("statement", NEEDED)
def test_each_privilege_that_is_missing_is_missed(clean: Door, statement: str) -> None:
    """With all that is needed on `t` it runs; without any one of it, it is forbidden."""
    needed = NEEDED[statement].split()
    if not needed:
        clean.admin("GRANT ALL ON t TO r")
        assert not clean.allows(statement)
        return
    clean.admin(f"GRANT {', '.join(needed)} ON t TO r")
    assert clean.allows(statement)
    for privilege in needed:
        clean.admin(f"REVOKE {privilege} ON t FROM r")
        assert not clean.allows(statement), privilege
        clean.admin(f"GRANT {privilege} ON t TO r")
    clean.admin(f"REVOKE ALL ON t FROM r; GRANT {', '.join(sorted({*ALL} - {*needed}) or ['ALL'])} ON u TO r")
    assert not clean.allows(statement)


def test_inserting_alone_reads_nothing(clean: Door) -> None:
    clean.admin("GRANT INSERT ON u TO r")
    assert clean.allows("INSERT INTO u VALUES (1, 'x')")
    for sql in (
        "INSERT INTO u VALUES (2, 'x') RETURNING a",
        "INSERT INTO u VALUES (1, 'x') ON CONFLICT DO NOTHING",
        "INSERT INTO u SELECT a + 10, b FROM u",
        "SELECT * FROM u",
        "EXPLAIN SELECT 1 WHERE EXISTS (SELECT 1 FROM u)",
    ):
        answer = clean.ask(sql)
        assert answer.status_code != 200, sql
    answers = [
        (route, clean.client.run(clean.client.http.request(*route.split(), headers=bearer(clean.key))))
        for route in ("GET /v1/tables/u/rows", "GET /v1/tables/u/changes")
    ]
    assert all(code(answer) == (403, "forbidden") for _, answer in answers)
    by_change = {"insert": 200, "upsert": 403, "delete": 403}
    for op, status in by_change.items():
        body = [{op: {"a": 50, "b": "c"}}]
        for path, sent in (("/v1/tables/u/deltas", body), ("/v1/deltas", {"tables": {"u": body}})):
            answer = clean.client.post(path, sent, headers=bearer(clean.key))
            assert answer.status_code in (status, 409 if status == 200 else status), (op, answer.text)


def test_a_view_is_read_by_its_own_privilege(clean: Door) -> None:
    """As in PostgreSQL: whoever may read a view need not be able to read its tables."""
    clean.admin("GRANT SELECT ON v TO r")
    assert clean.allows("SELECT * FROM v")
    assert clean.allows("EXPLAIN VIEW v")
    assert clean.allows("SHOW CREATE VIEW v")
    assert not clean.allows("SELECT * FROM hidden")


def test_lists_show_what_is_seen(clean: Door) -> None:
    clean.admin("GRANT INSERT ON t TO r; GRANT SELECT ON v TO r")
    tables = clean.ask("SHOW TABLES").json()["results"][0]["rows"]
    assert [row[0] for row in tables] == ["t"]
    assert [row[0] for row in clean.ask("SHOW VIEWS").json()["results"][0]["rows"]] == ["v"]
    for kind, names in (("tables", ["t"]), ("views", ["v"])):
        answer = clean.client.run(clean.client.http.get(f"/v1/{kind}", headers=bearer(clean.key)))
        assert [relation["name"] for relation in answer.json()[kind]] == names


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM {0}",
        "SELECT * FROM {0} AS x JOIN t USING (a)",
        "SELECT (SELECT count(*) FROM {0}) FROM t",
        "WITH x AS (SELECT * FROM {0}) SELECT * FROM x",
        "INSERT INTO {0} VALUES (1)",
        "INSERT INTO t SELECT a, 'x' FROM {0}",
        "UPDATE {0} SET a = 1",
        "UPDATE t SET b = 'x' FROM {0} AS h WHERE h.a = t.a",
        "DELETE FROM {0}",
        "DELETE FROM t USING {0} AS h WHERE h.a = t.a",
        "MERGE INTO t USING {0} AS h ON t.a = h.a WHEN MATCHED THEN DELETE",
        "TRUNCATE {0}",
        "SHOW COLUMNS FROM {0}",
        "SHOW CREATE TABLE {0}",
        "DESCRIBE {0}",
        "EXPLAIN VIEW {0}",
        "EXPLAIN SELECT * FROM {0}",
        "SELECT * FROM hiden",
        "WITH {0} AS (SELECT * FROM {0}) SELECT * FROM {0}",
        "SELECT * FROM t WHERE a IN (WITH {0} AS (SELECT 1) SELECT * FROM {0}) OR EXISTS (SELECT 1 FROM {0})",
        "CREATE TABLE x AS SELECT * FROM {0}",
        "CREATE VIEW x AS SELECT * FROM {0}",
        "DROP TABLE {0}",
        "ALTER TABLE {0} ADD COLUMN c TEXT",
        "COMMENT ON TABLE {0} IS 'x'",
    ],
)
def test_a_hidden_relation_looks_like_none(clean: Door, statement: str) -> None:
    """It is refused, and the refusal is that of a name which does not exist."""
    clean.admin("GRANT ALL ON t TO r")
    hidden, nothing = clean.ask(statement.format("hidden")), clean.ask(statement.format("hixxen"))
    assert hidden.status_code in (400, 403, 404, 422)
    assert hidden.text.replace("hidden", "hixxen") == nothing.text


def test_long_texts_are_checked_too(clean: Door) -> None:
    clean.admin("GRANT SELECT ON t TO r")
    long = f"/* {'x' * 40_000} */"
    assert clean.allows(f"SELECT a {long} FROM t")
    assert clean.ask(f"SELECT a {long} FROM hidden").status_code in (403, 422)


def test_patterns_and_all(clean: Door) -> None:
    clean.admin('GRANT SELECT ON "t*" TO r')
    assert clean.allows("SELECT * FROM t") and not clean.allows("SELECT * FROM u")
    answer = clean.client.post(
        "/v1/sql", {"sql": "REVOKE SELECT ON t FROM r"}, headers=bearer(clean.admin_key)
    )
    assert code(answer) == (409, "conflict"), "the pattern would still allow it"
    clean.admin("GRANT ALL ON ALL TABLES IN SCHEMA public TO r")
    assert clean.allows("SELECT * FROM u") and clean.allows("CREATE TABLE made (a BIGINT)")
    assert clean.allows("DROP TABLE made")
    assert not clean.allows("CREATE ROLE x") and not clean.allows("GRANT admin TO r")


def test_revoking_a_pattern_takes_what_it_covers(clean: Door) -> None:
    clean.admin('GRANT SELECT ON t, u TO r; GRANT SELECT ON "u*" TO r')
    clean.admin('REVOKE SELECT ON "u*" FROM r')
    assert clean.allows("SELECT * FROM t") and not clean.allows("SELECT * FROM u")
    clean.admin("REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM r")
    assert not clean.allows("SELECT * FROM t")


def test_limits_of_a_key_narrow_its_role(clean: Door) -> None:
    clean.admin("GRANT ALL ON ALL TABLES IN SCHEMA public TO r")
    key = make_key(clean.client, "narrow", "r", ["u"], clean.admin_key)["key"]
    assert clean.allows("SELECT * FROM u", key) and not clean.allows("SELECT * FROM t", key)
    assert not clean.allows("CREATE TABLE x (a BIGINT)", key)
    clean.admin("GRANT admin TO r")
    assert not clean.allows("SELECT * FROM t", key), "a limited key is no admin's"
    clean.admin("REVOKE admin FROM r")


def test_roles_are_made_and_dropped(clean: Door) -> None:
    for sql, status in (
        ("CREATE ROLE r", 409),
        ("CREATE ROLE admin", 409),
        ("CREATE ROLE s WITH LOGIN", 200),
        ("GRANT read, write TO s", 200),
        ("GRANT SELECT ON nothing TO s", 404),
        ("GRANT SELECT ON t TO nobody", 404),
        ("GRANT SELECT ON t TO read", 409),
        ("DROP ROLE r", 409),
        ("DROP ROLE s", 200),
        ("DROP ROLE s", 404),
        ("DROP ROLE IF EXISTS s", 200),
        ("DROP ROLE read", 409),
        ("BEGIN; CREATE ROLE q; COMMIT", 422),
    ):
        answer = clean.ask(sql, clean.admin_key)
        assert answer.status_code == status, (sql, answer.text)


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb", "snowflake", "bigquery", "tsql", "spark"])
def test_statements_are_read_in_every_dialect(dialect: str) -> None:
    def read(sql: str):
        (statement,) = parse_script(sql, dialect)
        return statement

    assert (
        isinstance(read("CREATE ROLE Shop WITH LOGIN"), CreateRole)
        and read("CREATE ROLE Shop").name == "shop"
    )
    assert isinstance(read("DROP ROLE IF EXISTS a, b"), DropRole) and read("DROP ROLE a, b").names == (
        "a",
        "b",
    )
    found = read("GRANT SELECT, INSERT ON TABLE public.T, u TO r, s")
    assert isinstance(found, Grant)
    assert (found.privileges, found.relations, found.roles) == (("SELECT", "INSERT"), ("t", "u"), ("r", "s"))
    found = read("GRANT ALL PRIVILEGES ON ALL TABLES IN SCHEMA public TO r")
    assert (found.privileges, found.relations) == (ALL, ("public.*",))
    assert read("GRANT SELECT ON s.T, freshet.S.u TO r").relations == ("s.t", "s.u")
    assert read("GRANT USAGE ON SCHEMA s, t TO r").schemas == ("s", "t")
    found = read("REVOKE ALL ON t FROM r CASCADE")
    assert isinstance(found, Revoke) and found.privileges == ALL
    assert read("GRANT admin TO r").member_of == ("admin",)


def test_stored_periods_are_hidden_from_those_who_only_insert(clean: Door) -> None:
    clean.admin("CREATE TABLE timed (id BIGINT PRIMARY KEY, PERIOD VALID_TIME)")
    clean.admin("INSERT INTO timed VALUES (1, '2001-02-03', NULL); GRANT INSERT ON timed TO r")
    row = {"id": 1, "valid_from": "2024-01-01T00:00:00Z", "valid_to": None}
    insert = "INSERT INTO timed VALUES (1, '2024-01-01', NULL)"
    for reads in (False, True):
        path = "/v1/tables/timed/deltas"
        by_rows = clean.client.post(path, [{"insert": row}], headers=bearer(clean.key))
        for refused in (clean.ask(insert), by_rows):
            assert code(refused) == (409, "periods_overlap")
            assert "timed have id = 1 at the same valid time" in refused.json()["detail"]
            assert ("2001-02-03" in refused.text) == reads
        assert "2001-02-03" in clean.ask(insert, clean.admin_key).text
        clean.admin("GRANT SELECT ON timed TO r")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE ROLE r PASSWORD 'x'", "CREATE ROLE ... PASSWORD"),
        ("CREATE ROLE", "a name is expected"),
        ("GRANT", "a privilege is expected"),
        ("GRANT SELECT (a) ON t TO r", "columns"),
        ("GRANT TRUNCATE ON t TO r", "TRUNCATE"),
        ("GRANT SELECT ON t", "TO is expected"),
        ("GRANT SELECT ON freshet.a.s.t TO r", "at most a database and a schema"),
        ('GRANT SELECT ON "s*".t TO r', "a pattern of schemas"),
        ("GRANT CREATE ON SCHEMA s TO r", "the privilege CREATE"),
        ("GRANT ALL ON SCHEMA s TO r", "privileges on a schema"),
        ("GRANT SELECT ON sales_* TO r", "double quotes"),
        ("GRANT SELECT ON t TO r WITH GRANT OPTION", "WITH GRANT OPTION"),
        ("REVOKE GRANT OPTION FOR SELECT ON t FROM r", "GRANT"),
        ("REVOKE SELECT ON t TO r", "FROM is expected"),
        ("DROP ROLE a b", "syntax error"),
        ("GRANT SELECT ON 'x' TO r", "a name is expected"),
    ],
)
def test_what_is_refused_names_its_place(sql: str, words: str) -> None:
    with pytest.raises(PlannerError) as failed:
        parse_script(sql)
    assert words in failed.value.message
    assert failed.value.line == 1 and failed.value.hint
