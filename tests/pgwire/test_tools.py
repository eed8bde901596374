"""Programs and libraries that ask the catalogs before they work: each as people use it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from tests import clients
from tests.pgwire.door import PostgresDoor
from tests.postgres.server import Server

MADE = """
    CREATE TABLE customers (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tags TEXT[]);
    CREATE TABLE orders (
        id BIGINT PRIMARY KEY, customer BIGINT REFERENCES customers (id), amount NUMERIC(10, 2) DEFAULT 0,
        CHECK (amount >= 0));
    CREATE VIEW totals AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer;
    INSERT INTO customers VALUES (1, 'ann', ARRAY['a', 'b']), (2, 'bob', NULL);
    INSERT INTO orders VALUES (1, 1, 10), (2, 1, 5.5);
"""
TOTALS = [(1, Decimal("15.50"))]


@pytest.fixture(scope="module")
def shop(door: PostgresDoor) -> PostgresDoor:
    with door.connect() as connection:
        connection.execute(MADE)
    return door


@pytest.fixture
def alchemy(shop: PostgresDoor) -> Iterator[sa.Engine]:
    engine = sa.create_engine(f"postgresql+psycopg://me@127.0.0.1:{shop.postgres_port}/freshet")
    yield engine
    engine.dispose()


class Base(DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "people"
    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str]
    born: Mapped[date | None]


def test_sqlalchemy_reflects(alchemy: sa.Engine) -> None:
    found = sa.MetaData()
    found.reflect(alchemy, views=True)
    assert {"customers", "orders", "totals"} <= found.tables.keys()
    orders = found.tables["orders"]
    assert isinstance(orders.c.amount.type, sa.Numeric) and orders.c.amount.type.scale == 2
    (key,) = orders.foreign_keys
    assert key.target_fullname == "customers.id" and orders.primary_key.columns.keys() == ["id"]
    assert sa.inspect(alchemy).get_check_constraints("orders")[0]["sqltext"] == "amount >= 0"
    assert sa.inspect(alchemy).get_materialized_view_names() == ["totals"]


def test_sqlalchemy_maps_objects(alchemy: sa.Engine) -> None:
    Base.metadata.create_all(alchemy)
    with Session(alchemy) as session:
        session.add_all([Person(id=1, name="ann", born=date(2000, 1, 1)), Person(id=2, name="bob")])
        session.commit()
        found = session.get_one(Person, 1)
        found.name = "anna"
        session.delete(session.get_one(Person, 2))
        session.commit()
        people = session.scalars(sa.select(Person).order_by(Person.id))
        assert [(one.id, one.name, one.born) for one in people] == [(1, "anna", date(2000, 1, 1))]
    Base.metadata.drop_all(alchemy)


def test_pandas(alchemy: sa.Engine) -> None:
    pd.DataFrame({"a": [1, 2], "b": ["x", None]}).to_sql("frame", alchemy, index=False)
    assert pd.read_sql_table("frame", alchemy)["a"].tolist() == [1, 2]
    assert pd.read_sql("SELECT total FROM totals", alchemy)["total"].tolist() == [15.5]


def test_pg_dump(shop: PostgresDoor) -> None:
    clients.program("pg_dump", "Debian's postgresql-client")
    where = ["-h", "127.0.0.1", "-p", str(shop.postgres_port), "-U", "me"]
    subprocess.run(["pg_isready", *where], check=True, capture_output=True)
    found = subprocess.run(["pg_dump", *where, "freshet"], check=True, capture_output=True, text=True).stdout
    assert "2\t1\t5.50" in found and "ann\t{a,b}" in found
    assert "ADD CONSTRAINT orders_customer_fkey FOREIGN KEY (customer) REFERENCES" in found
    assert "CREATE MATERIALIZED VIEW public.totals AS" in found and "CREATE TYPE" not in found


def test_postgres_fdw(shop: PostgresDoor, postgres: Server) -> None:
    """A PostgreSQL joins a maintained view with a table, both of them here, and changes the table."""
    with postgres.connect() as connection:
        try:
            connection.execute("CREATE EXTENSION postgres_fdw")
        except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported):
            clients.missing("postgres_fdw", "Debian's package postgresql has it")
        where = f"host '127.0.0.1', port '{shop.postgres_port}', dbname 'freshet'"
        connection.execute(f"CREATE SERVER freshet FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({where})")
        connection.execute(
            "CREATE USER MAPPING FOR CURRENT_USER SERVER freshet "
            "OPTIONS (user 'me', password_required 'false')"
        )
        connection.execute(
            "IMPORT FOREIGN SCHEMA public LIMIT TO (orders, totals) FROM SERVER freshet INTO public"
        )
        joined = (
            "SELECT o.id, t.total FROM orders AS o JOIN totals AS t ON t.customer = o.customer WHERE o.id = 2"
        )
        assert connection.execute(joined).fetchall() == [(2, Decimal("15.50"))]
        connection.execute("INSERT INTO orders VALUES (7, 2, 3.5)")
        assert connection.execute("SELECT * FROM totals ORDER BY 1").fetchall() == [
            *TOTALS,
            (2, Decimal("3.50")),
        ]
        connection.execute("DELETE FROM orders WHERE id = 7")
    with shop.connect() as here:
        assert here.execute("SELECT * FROM totals").fetchall() == TOTALS
