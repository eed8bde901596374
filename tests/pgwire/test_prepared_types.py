"""Prepared statements that name a type, whose labels change."""

from __future__ import annotations

from pathlib import Path

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor


def test_a_prepared_statement_follows_the_labels_of_a_type(tmp_path: Path) -> None:
    with (
        PostgresDoor(Settings(data=tmp_path / "data")) as door,
        door.connect() as own,
        door.connect() as other,
    ):
        own.execute("CREATE TYPE mood AS ENUM ('a', 'b')")
        own.execute("CREATE TABLE t (m mood)")
        own.execute("INSERT INTO t VALUES ('a'), ('b')")
        own.execute("PREPARE p AS SELECT count(*) FROM t WHERE m > 'a'::mood")
        query = "SELECT count(*) FROM t WHERE m > 'a'::mood AND %s"
        assert own.execute("EXECUTE p").fetchone() == (1,)
        assert own.execute(query, (True,), prepare=True).fetchone() == (1,)
        own.execute("DECLARE c CURSOR WITH HOLD FOR SELECT m FROM t ORDER BY m")
        other.execute("ALTER TYPE mood ADD VALUE 'z' BEFORE 'a'")
        other.execute("INSERT INTO t VALUES ('z')")
        assert own.execute("EXECUTE p").fetchone() == (1,)
        assert own.execute(query, (True,), prepare=True).fetchone() == (1,)
        assert own.execute("SELECT m FROM t ORDER BY m").fetchall() == [("z",), ("a",), ("b",)]
        assert own.execute("FETCH ALL FROM c").fetchall() == [("a",), ("b",)]
        with own.transaction():
            assert own.execute("SELECT 'z'::mood < 'a'::mood").fetchone() == (True,)
