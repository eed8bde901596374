"""A Spark cluster on this machine, of processes that can be killed: a master, workers, a Connect server.

PySpark's own `bin/spark-class` starts them, bound to the loopback. Each has a process group of its own,
which includes a worker's executors.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from engine.spark import java

SPARK = Path(pyspark.__file__).parent
MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
WORKER = re.compile(r"Successfully registered with master")
CONNECT = re.compile(r"Spark Connect server started at: \S+?:(\d+)")


@dataclass(eq=False)
class Daemon:
    """A process of Spark, with all that it starts."""

    log: Path
    process: subprocess.Popen[bytes]

    def wait_for(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """The match of a pattern in its log. AssertionError if it ends before, or after two minutes."""
        deadline = time.monotonic() + 120
        while True:
            found = pattern.search(self.log.read_text(errors="replace"))
            if found is not None:
                return found
            assert self.process.poll() is None, self.log.read_text(errors="replace")
            assert time.monotonic() < deadline, f"{self.log} does not say {pattern.pattern}"
            time.sleep(0.1)

    def kill(self) -> None:
        """Kills the process and its executors with SIGKILL."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(eq=False)
class Cluster:
    """A standalone cluster. `url` is the address of its master."""

    directory: Path
    daemons: list[Daemon] = field(default_factory=list)
    workers: list[Daemon] = field(default_factory=list)
    url: str = ""

    def start_worker(self, cores: int = 1, memory: str = "1g") -> Daemon:
        """Starts one more worker and waits until it is ready."""
        work = self.directory / f"work-{len(self.daemons)}"
        options = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", str(cores), "--memory", memory]
        worker = self._start(
            "spark-class",
            "org.apache.spark.deploy.worker.Worker",
            *options,
            "--work-dir",
            str(work),
            self.url,
        )
        worker.wait_for(WORKER)
        self.workers.append(worker)
        return worker

    def start_connect(self, conf: Mapping[str, str]) -> str:
        """The address of a Connect server whose driver runs on this cluster."""
        given = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0"}
        given |= {"spark.master": self.url, "spark.ui.enabled": "false", **conf}
        server = self._start(
            "spark-submit",
            *(word for key, value in given.items() for word in ("--conf", f"{key}={value}")),
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
        )
        return f"sc://127.0.0.1:{server.wait_for(CONNECT)[1]}"

    def _start(self, script: str, *arguments: str) -> Daemon:
        log = self.directory / f"daemon-{len(self.daemons)}.log"
        environment = {
            **os.environ,
            "JAVA_HOME": str(java.home(self.directory)),
            "SPARK_HOME": str(SPARK),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,  # of a Connect server's workers
            "SPARK_LOCAL_DIRS": str(self.directory / "blocks"),
        }
        environment.pop("PYTHONPATH", None)  # the engine is to come another way
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(SPARK / "bin" / script), *arguments],
                cwd=self.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,
            )
        self.daemons.append(Daemon(log, process))
        return self.daemons[-1]


@contextmanager
def cluster(directory: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and its workers, which end with the block. `directory` has their logs and their work."""
    running = Cluster(directory)
    try:
        options = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        master = running._start("spark-class", "org.apache.spark.deploy.master.Master", *options)
        running.url = master.wait_for(MASTER)[1]
        for _ in range(workers):
            running.start_worker()
        yield running
    finally:
        for daemon in reversed(running.daemons):
            daemon.kill()
