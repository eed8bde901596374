"""Settings of the PostgreSQL door."""

from __future__ import annotations

from dataclasses import dataclass

from service.settings.doors import MIB, setting

PORT = 5433


@dataclass(frozen=True)
class PostgresSettings:
    postgres_port: int = setting(
        PORT,
        "FRESHET_POSTGRES_PORT",
        "port on which PostgreSQL's clients connect, at the address of FRESHET_HOST; 0: none. If the default "
        "is taken by another program, the service goes on without it",
    )
    postgres_connections: int = setting(
        500, "FRESHET_POSTGRES_CONNECTIONS", "most connections of PostgreSQL's clients at a time"
    )
    postgres_message_bytes: int = setting(
        64 * MIB, "FRESHET_POSTGRES_MESSAGE_BYTES", "most bytes of one message of a PostgreSQL client"
    )
    postgres_statements: int = setting(
        1_000,
        "FRESHET_POSTGRES_STATEMENTS",
        "most prepared statements, and most portals and cursors, of one PostgreSQL connection",
    )
    postgres_idle_seconds: int = setting(
        0, "FRESHET_POSTGRES_IDLE_SECONDS", "seconds after which an idle PostgreSQL connection ends; 0: never"
    )
    postgres_block_seconds: int = setting(
        600,
        "FRESHET_POSTGRES_BLOCK_SECONDS",
        "seconds after which a PostgreSQL connection ends that is idle inside BEGIN ... COMMIT; 0: never",
    )
