"""Random statements that change rows, against PostgreSQL: counts, RETURNING, refusals, what the tables hold.

One difference is left out: PostgreSQL looks for equal keys after each row of an UPDATE, so `id = id + 1` may
fail where no two rows have one key in the end. Here a statement is judged by what it leaves.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import psycopg

from service.settings.settings import Settings
from tests.postgres.server import Server
from tests.seeds import each_seed, few, steps
from tests.service.client import Client

TABLES = """
CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, amount INTEGER, code TEXT UNIQUE);
CREATE TABLE moves (id INTEGER, amount INTEGER)
"""
STATEMENTS = (
    "INSERT INTO accounts VALUES ({k}, {t}, {n}, {c})",
    "INSERT INTO accounts (owner, id) VALUES ({t}, {k}), ({t}, {k} + 1) RETURNING id, owner, amount",
    "INSERT INTO moves VALUES ({k}, {n}), ({k}, {n}), ({k}, NULL)",
    "INSERT INTO accounts VALUES ({k}, {t}, {n}, {c}) ON CONFLICT DO NOTHING RETURNING id",
    "INSERT INTO accounts VALUES ({k}, {t}, {n}, NULL), ({k}, {t}, {n}, NULL) ON CONFLICT (id) DO NOTHING",
    "INSERT INTO accounts VALUES ({k}, {t}, {n}, {c}) ON CONFLICT (id) DO UPDATE"
    " SET amount = accounts.amount + excluded.amount, owner = excluded.owner RETURNING *",
    "INSERT INTO accounts AS a VALUES ({k}, {t}, {n}, {c}) ON CONFLICT (id) DO UPDATE"
    " SET amount = {n} WHERE a.amount < excluded.amount RETURNING id, amount",
    "INSERT INTO accounts SELECT id, 'sum', sum(amount), NULL FROM moves WHERE id IS NOT NULL GROUP BY id"
    " ON CONFLICT (id) DO UPDATE SET amount = excluded.amount",
    "INSERT INTO moves SELECT id, amount FROM accounts WHERE amount > {n} RETURNING amount * 2 AS twice",
    "UPDATE accounts SET amount = amount / 2, owner = owner || '!' WHERE id % 2 = 0"
    " RETURNING id, amount, owner",
    "UPDATE accounts SET id = {k} WHERE id = {k}",
    "UPDATE accounts SET code = {c} WHERE id = {k} OR amount IS NULL",
    "UPDATE accounts SET owner = NULL WHERE id = {k}",
    "UPDATE accounts AS a SET amount = m.most"
    " FROM (SELECT id, max(amount) AS most FROM moves GROUP BY id) AS m WHERE m.id = a.id"
    " RETURNING a.id, a.amount",
    "UPDATE moves SET amount = (SELECT max(amount) FROM accounts WHERE accounts.id = moves.id)"
    " WHERE id < {k}",
    "DELETE FROM accounts USING moves WHERE moves.id = accounts.id AND moves.amount > {n}"
    " RETURNING accounts.id",
    "DELETE FROM moves WHERE amount IS NULL OR id = {k} RETURNING *",
    "DELETE FROM accounts WHERE id IN (SELECT id FROM moves) AND amount > ALL (SELECT amount FROM moves)",
)


@each_seed(few(2))
def test_statements_do_what_postgresql_does(postgres: Server, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with postgres.connect() as connection, Client(Settings(data=tmp_path)) as service:
        connection.execute("DROP TABLE IF EXISTS accounts, moves")
        connection.execute(TABLES)
        assert service.post("/v1/sql", {"sql": TABLES}).status_code == 200
        done = 0
        for _ in range(steps(80)):
            sql = _statement(rng)
            answer = service.post("/v1/sql", {"sql": sql})
            try:
                cursor = connection.execute(sql)
            except psycopg.Error as error:
                assert 400 <= answer.status_code < 500, f"{sql}\n{error}\n{answer.text}"
                continue
            done += 1
            assert answer.status_code == 200, f"{sql}\n{answer.text}"
            result = answer.json()["results"][0]
            if cursor.description is not None:
                assert Counter(map(tuple, result["rows"])) == Counter(cursor.fetchall()), sql
            else:
                assert result["count"] == cursor.rowcount, sql
            for table in ("accounts", "moves"):
                held = service.post("/v1/sql", {"sql": f"SELECT * FROM {table}"}).json()["results"][0]["rows"]
                wanted = Counter(connection.execute(f"SELECT * FROM {table}").fetchall())
                assert Counter(map(tuple, held)) == wanted, sql
        assert done > steps(80) // 2


def _statement(rng: random.Random) -> str:
    """One of the statements; equal places in it need not get equal values."""
    values = {
        "{k}": lambda: str(rng.randint(0, 9)),
        "{n}": lambda: str(rng.choice((-7, 0, 1, 3, 8, 2**31 - 1))),
        "{t}": lambda: f"'{rng.choice(('ada', 'bob', ''))}'",
        "{c}": lambda: rng.choice(("NULL", "NULL", "'p'", "'q'")),
    }
    text = rng.choice(STATEMENTS)
    for place, value in values.items():
        while place in text:
            text = text.replace(place, value(), 1)
    return text
