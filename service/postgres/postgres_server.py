"""Listening for PostgreSQL's clients, and the end of all their connections."""

from __future__ import annotations

import asyncio
import socket

from service.postgres.hall import Hall
from service.postgres.postgres_connection import PostgresConnection

_BACKLOG = 1024


class PostgresServer:
    """Belongs to the event loop."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._server: asyncio.Server | None = None
        self._connections: set[PostgresConnection] = set()

    @property
    def open(self) -> int:
        """The number of connections."""
        return self._hall.open

    async def start(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, sock=listening, backlog=_BACKLOG)

    def _connection(self) -> PostgresConnection:
        connection = PostgresConnection(self._hall, self._connections.discard)
        self._connections.add(connection)
        return connection

    async def stop(self) -> None:
        """Takes no more connections, and ends those that are open: what runs in them is cancelled."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._connections):
            connection.end()
        while self._connections:
            await asyncio.sleep(0.01)
        await self._hall.cleared_up()
