"""A target of a profile: where the service is, or that it runs inside dbt's own process."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.contracts.connection import Credentials
from dbt.adapters.freshet.naming import DATABASE
from dbt_common.exceptions import DbtRuntimeError

URL = "http://127.0.0.1:8000"


@dataclass
class FreshetCredentials(Credentials):
    """`embedded` runs a service in dbt's process; `data` is its directory, and without one its rows are gone
    when dbt ends. Otherwise the service is at `url`, and `key` is sent to it."""

    database: str = DATABASE
    schema: str = "public"
    url: str = URL
    key: str | None = None
    timeout: float = 600.0
    embedded: bool = False
    data: str | None = None

    _ALIASES = {"dbname": "database"}  # noqa: RUF012 - dbt reads a plain dict

    def __post_init__(self) -> None:
        if self.database != DATABASE:
            raise DbtRuntimeError(
                f"Freshet has one database, called {DATABASE}: leave {self.database} out of the profile"
            )
        if self.data is not None and not self.embedded:
            raise DbtRuntimeError("data is for an embedded service: add embedded: true, or leave it out")
        if self.embedded and self.url != URL:
            raise DbtRuntimeError("an embedded service has no url: leave out url, or embedded")

    @property
    def type(self) -> str:
        return "freshet"

    @property
    def unique_field(self) -> str:
        return self.data or "embedded" if self.embedded else self.url

    def _connection_keys(self) -> tuple[str, ...]:
        """What `dbt debug` shows, and what macros find in `target`: without `database` models have none."""
        shown = ("database", "schema")
        return (*shown, "embedded", "data") if self.embedded else (*shown, "url", "timeout")
