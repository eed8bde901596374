"""The connections of a catalog, and who may write on them.

SQLite, and PostgreSQL while the service leads: everybody writes; with a token, each transaction that writes
passes the fence (`service/catalog/leadership.py`) first. While the service follows another one, its
transactions only read, and `frozen` shows all of them the catalog at one moment.

One thread at a time calls these, but any thread `transaction` and `reading_aside`, whose connections are
their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

import migrations
from service.catalog.leadership import has_leaders, pass_fence, read_leader, session_of
from service.errors import Deposed, NotLeader, ServiceError

_READ_ONLY = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


class Connections:
    def __init__(self, url: str, instance: str = "", *, follows: bool = False) -> None:
        """Connects. If it does not follow another service, it brings the schema up to date."""
        arguments = session_of(instance) if instance and has_leaders(url) else {}
        self._database = sa.create_engine(url, connect_args=arguments)
        if self._database.dialect.name == "sqlite":
            sa.event.listen(self._database, "connect", _prepare_sqlite)
        self.token: int | None = None
        """The token of the leader that this service is; None where there are no leaders."""
        self.follows = follows
        self.on_deposed: Callable[[], None] = lambda: None
        """Called when the fence finds that another service leads."""
        self.statement = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
        """For single statements that commit themselves; they have to pass the fence too."""
        self._connection = self._connected()
        if not follows:
            migrate(self._connection)

    def _connected(self) -> sa.Connection:
        connection = self._database.connect()
        return connection.execution_options(**_READ_ONLY) if self.follows else connection

    def reconnect(self) -> None:
        """Replaces the connection on which something has failed."""
        self._connection.invalidate()
        self._connection.close()
        self._connection = self._connected()

    def lead(self, token: int) -> None:
        """Lets this service write from now on, as long as the token is the newest."""
        self.follows, self.token = False, token
        self.reconnect()

    def close(self) -> None:
        self._connection.close()
        self.statement.close()
        self._database.dispose()

    @property
    def is_current(self) -> bool:
        """Whether the schema is there, as this release makes it. Raises ServiceError for a newer one."""
        with self.reading() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
        script = _scripts()
        try:
            script.get_revision(found or "base")
        except CommandError as error:
            raise _newer(error) from None
        return found == script.get_current_head()

    # Transactions

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads; inside `frozen`, a part of that."""
        if self.follows and self._connection.in_transaction():
            yield self._connection
        else:
            with self._connection.begin():
                yield self._connection

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """In this context, `reading` shows the catalog as it was when it was first read."""
        with self._connection.begin():
            yield

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that commits when its block ends. Raises NotLeader if this service may not write."""
        self.check_leads()
        with self._connection.begin():
            self._pass(self._connection)
            yield self._connection

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """The same on a connection of its own, for any thread."""
        self.check_leads()
        with self._database.begin() as connection:
            self._pass(connection)
            yield connection

    @contextmanager
    def reading_aside(self) -> Iterator[sa.Connection]:
        """A transaction that only reads, on a connection of its own, for any thread."""
        with self._database.begin() as connection:
            yield connection

    @contextmanager
    def repeatable(self) -> Iterator[sa.Connection]:
        """A connection of its own, for any thread, whose first read decides what the later ones show."""
        with self._database.connect() as connection:
            if connection.dialect.name != "sqlite":
                connection = connection.execution_options(**_READ_ONLY)
            yield connection

    def refused(self) -> Deposed:
        """The error of a statement that has not passed the fence."""
        with self.reading_aside() as connection:
            error = Deposed(read_leader(connection).address)
        self.on_deposed()
        return error

    def check_leads(self) -> None:
        """Raises NotLeader while the service follows another one."""
        if self.follows:
            with self.reading_aside() as connection:
                raise NotLeader(read_leader(connection).address)

    def _pass(self, connection: sa.Connection) -> None:
        if self.token is None:
            return
        try:
            pass_fence(connection, self.token)
        except Deposed:
            self.on_deposed()
            raise


def migrate(connection: sa.Connection) -> None:
    """Brings the schema up to date."""
    with connection.begin():
        found = MigrationContext.configure(connection).get_current_revision()
        if found != _scripts().get_current_head():
            upgrade(connection)


def upgrade(connection: sa.Connection, revision: str = "head") -> None:
    """Brings the schema to a revision, in the connection's transaction."""
    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        raise _newer(error) from None


def revisions() -> frozenset[str]:
    """The revisions of the schema that this release knows."""
    return frozenset(found.revision for found in _scripts().walk_revisions())


@cache
def _scripts() -> ScriptDirectory:
    """The migrations, of which a process loads each once."""
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    (place,) = migrations.__path__[:1]
    config.set_main_option("script_location", place.replace("%", "%%"))
    return config


def _newer(error: CommandError) -> ServiceError:
    return ServiceError(f"the database was made by a newer release: {error}", "start that release instead")


def _prepare_sqlite(connection: object, record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA busy_timeout = 10000")
    cursor.close()
