"""Settings of services that share a catalog: one leads, the others are its standbys."""

from __future__ import annotations

from dataclasses import dataclass

from service.settings.doors import setting


@dataclass(frozen=True)
class StandbySettings:
    standby: str = setting(
        "no",
        "FRESHET_STANDBY",
        "yes: while another service leads the catalog, wait as its standby, and take its place when it ends",
    )
    advertised_url: str = setting(
        "",
        "FRESHET_ADVERTISED_URL",
        "URL at which clients reach this service, which standbys tell them; empty: from host and port",
    )
    leader_milliseconds: int = setting(
        3_000,
        "FRESHET_LEADER_MILLISECONDS",
        "milliseconds without a sign of life from the leader after which a standby takes its place",
    )

    @property
    def is_standby(self) -> bool:
        return self.standby.lower() == "yes"

    def check_standby(self, database_url: str, state_directory: str) -> None:
        """Raises ValueError if this service cannot be a standby with this database and this directory."""
        if not self.is_standby:
            return
        if not database_url.startswith("postgresql"):
            raise ValueError(
                "FRESHET_STANDBY is yes, and the catalog is not in PostgreSQL: set FRESHET_DATABASE_URL to "
                "postgresql+psycopg://..., the same for all services"
            )
        if not state_directory:
            raise ValueError(
                "FRESHET_STANDBY is yes, and FRESHET_STATE is not set: name a directory that all services "
                "share"
            )
