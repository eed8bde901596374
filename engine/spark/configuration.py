"""Spark's configuration for new sessions, with the reason for each setting; the user's settings override
it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2]
"""The directory that contains the package `engine`."""


@dataclass(frozen=True)
class SparkOptions:
    """Which Spark to use, and how.

    `master` is a classic master (`local[*,4]`: all cores, four attempts of a task; a plain `local[*]` does
    not retry). `remote` is the address of a Connect server (`sc://...`), and takes precedence over `master`.
    `memory` is the driver's memory, in Java's notation; `conf` overrides all settings made here. `scratch` is
    a directory of this process alone for temporary files: shuffles, spilled blocks, Spark's log.
    """

    scratch: Path
    master: str = "local[*,4]"
    remote: str = ""
    memory: str = "2g"
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether this process starts all of Spark on this machine: `local[...]` and `local-cluster[...]`."""
        return not self.remote and self.master.startswith("local")


def session_configuration(options: SparkOptions) -> dict[str, str]:
    """The settings of a session, on any server."""
    return {
        # Adaptive execution would run the stages of an epoch one by one, a job each.
        "spark.sql.adaptive.enabled": "false",
        # A timestamp is in UTC wherever it is read.
        "spark.sql.session.timeZone": "UTC",
        # The names of directories are texts, which a load's judge reads as values of the column's type.
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        # Columns are judged in larger parts than Spark's 10,000 rows; its limit of bytes stays.
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
        # Messages between shards are blobs; together they soon exceed 2 GiB, so offsets need 64 bits.
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
    } | {key: value for key, value in options.conf.items() if key.startswith("spark.sql.")}


def configuration(options: SparkOptions) -> dict[str, str]:
    """The configuration of a classic session."""
    conf = {
        "spark.app.name": "Freshet",
        "spark.master": options.master,
        "spark.driver.memory": options.memory,
        # Nobody looks at the pages of an embedded Spark; they cost memory and a port.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        # Passing rows between a JVM and its Python takes half the time.
        "spark.python.unix.domain.socket.enabled": "true",
        # The daemon loads the kernels once; workers are forked from it.
        "spark.python.daemon.module": "engine.spark.daemon",
        # Spark makes this directory even if it has no tables of its own.
        "spark.sql.warehouse.dir": str(options.scratch / "warehouse"),
    }
    if options.is_local:
        conf |= {
            "spark.local.dir": str(options.scratch / "blocks"),
            # For stages whose number of partitions is not set. Spark's default of 200 suits clusters.
            "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 1)),
            # Tasks hand their rows to the driver, which is in their process, without a detour over blocks.
            "spark.task.maxDirectResultSize": "1g",
            # Executors of local-cluster import the engine from here.
            "spark.executorEnv.PYTHONPATH": str(PACKAGES),
        }
    return conf | session_configuration(options) | dict(options.conf)


def python(options: SparkOptions) -> str:
    """The workers' Python: from the configuration or the environment, or this one if Spark is local."""
    named = options.conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON")
    return named or (sys.executable if options.is_local else "python3")


def properties(conf: Mapping[str, str]) -> str:
    """The configuration as a Java properties file."""
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in conf.items())


def _escape(text: str) -> str:
    escaped = "".join(f"\\{c}" if c in "\\=:#! " else c for c in text)
    return escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
