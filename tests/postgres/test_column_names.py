"""Names of columns without one: the list that the planner is tested against says what PostgreSQL says."""

from __future__ import annotations

from tests.planner.test_column_names import TABLE, named
from tests.postgres.server import Server


def test_the_names_are_postgresqls(postgres: Server) -> None:
    with postgres.connect() as connection:
        connection.execute(TABLE)
        for query, name in named():
            description = connection.execute(f"{query} LIMIT 0").description
            assert description is not None and description[0].name == name, query
