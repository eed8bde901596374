"""What Spark is told when a classic session starts, each with its reason; the user's settings come last."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2]
"""The directory in which the package `engine` lies."""


@dataclass(frozen=True)
class SparkOptions:
    """Which Spark, and how.

    `master` is a classic master (`local[*,4]`: every core, and four attempts of a task; a plain `local[*]`
    does not retry). `remote` is the address of a Connect server (`sc://...`), and goes before `master`.
    `memory` is the driver's, as Java writes it; `conf` overrides whatever is set here. `scratch` is a
    directory of this process alone, for what need not outlive it: shuffles, spilled blocks, Spark's log.
    """

    scratch: Path
    master: str = "local[*,4]"
    remote: str = ""
    memory: str = "2g"
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether everything runs on this machine, started by us: `local[...]` and `local-cluster[...]`."""
        return not self.remote and self.master.startswith("local")


def session_configuration(options: SparkOptions) -> dict[str, str]:
    """What any session may set for itself, on a server that is not ours too."""
    return {
        # It would plan the stages of an epoch one by one, each when the last is done: one job a stage.
        "spark.sql.adaptive.enabled": "false",
        # A timestamp is UTC wherever it is read.
        "spark.sql.session.timeZone": "UTC",
        # Messages between shards are blobs, of which 2 GiB are soon together: offsets of 64 bits.
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
    } | {key: value for key, value in options.conf.items() if key.startswith("spark.sql.")}


def configuration(options: SparkOptions) -> dict[str, str]:
    """Spark's configuration for a classic session."""
    conf = {
        "spark.app.name": "Freshet",
        "spark.master": options.master,
        "spark.driver.memory": options.memory,
        # Nobody looks at the pages of an embedded Spark, and they cost memory and a port.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        # Rows go between a JVM and its Python in half the time.
        "spark.python.unix.domain.socket.enabled": "true",
        # The kernels are loaded once, and workers are forked from there.
        "spark.python.daemon.module": "engine.spark.daemon",
        # Tables of Spark's own are never made, but it makes the directory.
        "spark.sql.warehouse.dir": str(options.scratch / "warehouse"),
    }
    if options.is_local:
        conf |= {
            "spark.local.dir": str(options.scratch / "blocks"),
            # What no reader or exchange of ours says otherwise. Spark's 200 are for clusters.
            "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 1)),
            # Executors of local-cluster find the engine where we have it.
            "spark.executorEnv.PYTHONPATH": str(PACKAGES),
        }
    return conf | session_configuration(options) | dict(options.conf)


def python(options: SparkOptions) -> str:
    """The Python of workers: what the conf or the environment says, or this one where everything is local."""
    named = options.conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON")
    return named or (sys.executable if options.is_local else "python3")


def properties(conf: Mapping[str, str]) -> str:
    """The configuration as a Java properties file."""
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in conf.items())


def _escape(text: str) -> str:
    escaped = "".join(f"\\{c}" if c in "\\=:#! " else c for c in text)
    return escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
