"""Settings, read once from the environment and frozen.

`SETTINGS` lists each with its variable, default and meaning. A test compares the documentation with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from engine.spark.configuration import SparkOptions
from planner.limits import PlanningLimits
from service.settings.allowed_memory import allowed_bytes
from service.settings.branch_settings import BranchSettings
from service.settings.build_settings import BuildSettings
from service.settings.doors import MIB, Doors
from service.settings.observing_settings import LOG_FORMATS, LOGGED_REQUESTS, ObservingSettings
from service.settings.planning_settings import PlanningSettings
from service.settings.postgres_settings import PostgresSettings
from service.settings.query_limits import QuerySettings
from service.settings.standby_settings import StandbySettings

WORD_MEMORY = 64
"""Bytes of memory to reckon with for a value that enters a pass. A load of 20 million rows of 16 columns has
taken 18, and views over such rows take several times as much."""


def _as(variable: str, meaning: str) -> dict[str, str]:
    return {"variable": variable, "meaning": meaning}


@dataclass(frozen=True)
class Settings(
    Doors,
    StandbySettings,
    BuildSettings,
    BranchSettings,
    PlanningSettings,
    QuerySettings,
    ObservingSettings,
    PostgresSettings,
):
    host: str = field(default="127.0.0.1", metadata=_as("FRESHET_HOST", "address to listen on"))
    port: int = field(default=8000, metadata=_as("FRESHET_PORT", "port to listen on"))
    data: Path = field(
        default=Path("data"),
        metadata=_as("FRESHET_DATA", "directory of the database, the state's files and the lock"),
    )
    state_directory: str = field(
        default="",
        metadata=_as(
            "FRESHET_STATE",
            "directory of the state's files, for this service and its standbys alone, on storage that "
            "Spark's workers share; empty: state in the data directory",
        ),
    )
    shards: int = field(
        default=4,
        metadata=_as("FRESHET_SHARDS", "shards into which the state's files divide their rows"),
    )
    spark: str = field(
        default="auto",
        metadata=_as(
            "FRESHET_SPARK",
            "what Spark computes: auto (what is large), always (all that it can), "
            "never (only what it has to read)",
        ),
    )
    spark_rows: int = field(
        default=0,
        metadata=_as(
            "FRESHET_SPARK_ROWS",
            "rows that enter in one pass, or that a new view reads, from which on Spark computes it; "
            "0: more than the memory has room for",
        ),
    )
    spark_solo_rows: int = field(
        default=100_000,
        metadata=_as(
            "FRESHET_SPARK_SOLO_ROWS",
            "most rows entering a recursion for one task of Spark to run it whole",
        ),
    )
    spark_rounds: int = field(
        default=1_000,
        metadata=_as(
            "FRESHET_SPARK_ROUNDS", "rounds of a recursion on Spark after which the process computes it"
        ),
    )
    spark_master: str = field(
        default="local[*,4]",
        metadata=_as(
            "FRESHET_SPARK_MASTER",
            "where Spark runs: on this machine's cores, with four attempts a task, or a cluster's address",
        ),
    )
    spark_remote: str = field(
        default="",
        metadata=_as(
            "FRESHET_SPARK_REMOTE", "address of a Spark Connect server, sc://..., in place of a master"
        ),
    )
    spark_memory: str = field(
        default="2g",
        metadata=_as("FRESHET_SPARK_MEMORY", "memory of the JVM of Spark's driver, as Java writes it"),
    )
    spark_conf: str = field(
        default="",
        metadata=_as(
            "FRESHET_SPARK_CONF",
            "further Spark configuration: key=value pairs, separated by semicolons",
        ),
    )
    load_roots: str = field(
        default="",
        metadata=_as(
            "FRESHET_LOAD_ROOTS",
            "directories and addresses, separated by colons, under which clients may have data read and "
            "written; empty: the data directory",
        ),
    )
    local_load_bytes: int = field(
        default=4 << 30,
        metadata=_as(
            "FRESHET_LOCAL_LOAD_BYTES",
            "bytes of files on this machine up to which a load is read without Spark; 0: Spark reads all",
        ),
    )
    spark_warm: str = field(
        default="no",
        metadata=_as(
            "FRESHET_SPARK_WARM", "yes: Spark is started with the service, so that nobody waits for it later"
        ),
    )
    jobs_kept: int = field(
        default=1_000,
        metadata=_as("FRESHET_JOBS_KEPT", "loads and exports that are kept; as many may wait, more get 429"),
    )
    database_url: str = field(
        default="",
        metadata=_as(
            "FRESHET_DATABASE_URL",
            "SQLAlchemy URL of the catalog and the epoch log; empty: SQLite in the data directory",
        ),
    )
    log_level: str = field(
        default="info", metadata=_as("FRESHET_LOG_LEVEL", "critical, error, warning, info or debug")
    )
    queue_requests: int = field(
        default=10_000,
        metadata=_as("FRESHET_QUEUE_REQUESTS", "requests that may wait for the writer; more get 429"),
    )
    queue_changes: int = field(
        default=5_000_000,
        metadata=_as("FRESHET_QUEUE_CHANGES", "changes that may wait for the writer; more get 429"),
    )
    group_changes: int = field(
        default=100_000,
        metadata=_as(
            "FRESHET_GROUP_CHANGES", "most changes of waiting requests that one pass of the writer takes"
        ),
    )
    large_changes: int = field(
        default=200_000,
        metadata=_as(
            "FRESHET_LARGE_CHANGES",
            "changes of a request from which on it is computed beside the writer, while small ones go on",
        ),
    )
    checkpoint_bytes: int = field(
        default=64 * MIB,
        metadata=_as("FRESHET_CHECKPOINT_BYTES", "bytes of log after which a checkpoint is written"),
    )
    checkpoint_commits: int = field(
        default=20_000,
        metadata=_as("FRESHET_CHECKPOINT_COMMITS", "commits of the log after which a checkpoint is written"),
    )
    clock_milliseconds: int = field(
        default=1_000,
        metadata=_as(
            "FRESHET_CLOCK_MILLISECONDS",
            "least milliseconds between two epochs that are made because views change with time",
        ),
    )
    history_seconds: int = field(
        default=0,
        metadata=_as(
            "FRESHET_HISTORY_SECONDS",
            "seconds for which past epochs stay readable; 0: for ever. "
            "The next checkpoint forgets older ones",
        ),
    )
    max_rounds: int = field(
        default=100_000,
        metadata=_as("FRESHET_MAX_ROUNDS", "rounds after which a recursion without a limit of its own fails"),
    )
    idempotency_hours: int = field(
        default=24,
        metadata=_as("FRESHET_IDEMPOTENCY_HOURS", "hours for which an Idempotency-Key is remembered"),
    )
    read_cache_bytes: int = field(
        default=256 * MIB,
        metadata=_as(
            "FRESHET_READ_CACHE_BYTES", "most bytes of recent reads that are kept for their next page"
        ),
    )
    page_rows: int = field(
        default=1_000, metadata=_as("FRESHET_PAGE_ROWS", "rows of a JSON page when the request sets no limit")
    )
    page_rows_most: int = field(
        default=100_000, metadata=_as("FRESHET_PAGE_ROWS_MOST", "largest limit of a JSON page")
    )
    shutdown_seconds: int = field(
        default=10,
        metadata=_as(
            "FRESHET_SHUTDOWN_SECONDS",
            "seconds within which the service ends; open requests have half of them",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for item in fields(self):
            value = getattr(self, item.name)
            least = 0 if item.name in _MAY_BE_ZERO else 1
            if isinstance(value, int) and value < least:
                raise ValueError(f"{item.metadata['variable']} is {value}, and has to be at least {least}")
            choices = _CHOICES.get(item.name)
            if choices and value.lower() not in choices:
                raise ValueError(f"{item.metadata['variable']} is {value!r}, not one of {', '.join(choices)}")
        if not all("=" in pair for pair in _pairs(self.spark_conf)):
            raise ValueError(f"FRESHET_SPARK_CONF is {self.spark_conf!r}, not key=value pairs")
        self.check_standby(self.database_url, self.state_directory)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """The settings in the environment's variables. ValueError names a variable that cannot be read."""
        given = {}
        for item in fields(cls):
            text = environment.get(item.metadata["variable"])
            if text is not None:
                given[item.name] = _read(item.metadata["variable"], type(item.default), text)
        return cls(**given)

    @property
    def roots(self) -> tuple[Path, ...]:
        """The directories under which clients may name files."""
        paths = tuple(Path(root) for root in _ROOT.findall(self.load_roots) if ":" not in root)
        return paths if self.load_roots else (self.data,)

    @property
    def remote_roots(self) -> tuple[str, ...]:
        """The addresses, such as `s3a://bucket`, under which clients may name data."""
        return tuple(root for root in _ROOT.findall(self.load_roots) if ":" in root)

    @property
    def scratch(self) -> Path:
        """The directory through which Spark's tasks exchange data while an epoch is computed."""
        return self.state / "scratch"

    @property
    def spill(self) -> Path:
        """The directory of the temporary files of queries."""
        return self.data / "queries"

    @property
    def state(self) -> Path:
        """The directory of the state's files."""
        return Path(self.state_directory) if self.state_directory else self.data / "state"

    def has_room(self, rows: float, words: float, memory: int = 0) -> bool:
        """Whether this machine computes so many rows of so many `words` itself, or leaves them to Spark.

        `memory`: the bytes that the work may have here; 0: as many as the process.
        """
        if self.spark_rows:
            return rows < self.spark_rows
        here = allowed_bytes()
        return words * WORD_MEMORY <= min(memory or here, here)

    def has_room_for(self, rows: float, columns: int) -> bool:
        """The same for rows of so many columns, in the memory of the process."""
        return self.has_room(rows, rows * columns)

    @property
    def planning_limits(self) -> PlanningLimits:
        """What planning a query may cost."""
        widths = (self.plan_columns, self.plan_relations)
        return PlanningLimits(self.sql_limit, self.sql_depth, *widths, self.plan_seconds, self.plan_memory)

    @property
    def spark_options(self) -> SparkOptions:
        """Which Spark to use, and its configuration."""
        conf = dict(pair.split("=", 1) for pair in _pairs(self.spark_conf))
        return SparkOptions(
            self.data.absolute() / "spark", self.spark_master, self.spark_remote, self.spark_memory, conf
        )

    @property
    def url(self) -> str:
        """The database's URL."""
        return self.database_url or f"sqlite:///{self.data / 'freshet.db'}"


_ROOT = re.compile(
    r"(?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]*://[^:]*(?::[0-9][^:]*)*"  # an address, its port, and so on
    r"|jdbc:[a-z0-9]+:[^:]+"
    r"|[^:]+"
)
_CHOICES = {
    "log_format": LOG_FORMATS,
    "log_level": ("critical", "error", "warning", "info", "debug"),
    "log_requests": LOGGED_REQUESTS,
    "open_to_anyone": ("no", "yes"),
    "spark": ("auto", "always", "never"),
    "spark_warm": ("no", "yes"),
    "standby": ("no", "yes"),
}
_MAY_BE_ZERO = frozenset(
    {
        "port",
        "local_load_bytes",
        "spark_rows",
        "threads",
        "memory_high",
        "budget_memory",
        "budget_seconds",
        "budget_milliseconds",
        "metrics_relations",
        "history_seconds",
        "shutdown_seconds",
        "query_workers",
        "queries_waiting",
        "query_disk",
        "postgres_port",
        "postgres_idle_seconds",
        "postgres_block_seconds",
    }
)


@dataclass(frozen=True)
class Setting:
    variable: str
    default: str
    meaning: str


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(item.metadata["variable"], str(item.default), item.metadata["meaning"])
    for item in fields(Settings)
)


def _pairs(text: str) -> list[str]:
    return [pair.strip() for pair in text.split(";") if pair.strip()]


def _read(variable: str, kind: type, text: str) -> Any:
    try:
        if issubclass(kind, Path):
            return Path(text)
        return int(text) if kind is int else text
    except ValueError:
        raise ValueError(f"{variable} is {text!r}, not a whole number") from None
