"""The JVM of a classic session's driver, started by Spark's own `bin/spark-submit`.

PySpark would start it with this process's environment and standard error. It is started here with its own of
both, and PySpark gets the address of its gateway.

The JVM reads its standard input, a pipe from this process, and exits at its end. So it never outlives this
process, however that ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from py4j.java_gateway import JavaGateway
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import UTF8Deserializer, read_int

from engine.errors import SparkUnavailable
from engine.spark import java
from engine.spark.configuration import PACKAGES, SparkOptions, configuration, properties
from engine.spark.package import pack

SECONDS_TO_END = 10
"""Seconds that a JVM may take to exit before it is killed."""

_ENVIRONMENT = threading.Lock()


class Jvm:
    """A running JVM with a gateway. Its log is `spark.log` in the scratch directory."""

    def __init__(self, options: SparkOptions, stopping: threading.Event) -> None:
        """Start the JVM and wait for its gateway. SparkUnavailable if it exits first, or `stopping` is
        set."""
        log = options.scratch / "spark.log"
        said = log.stat().st_size if log.exists() else 0
        with tempfile.TemporaryDirectory(dir=options.scratch) as private:
            address = Path(private) / "address"
            self._process = _start(options, Path(private) / "conf", address, log)
            try:
                # There is no time limit: Spark may have to download packages first.
                while not address.exists():
                    if not self.is_alive():
                        raise SparkUnavailable(
                            f"Spark does not start: {_ended(log, said)}", f"its log is {log}"
                        )
                    if stopping.wait(0.05):
                        raise SparkUnavailable("Spark does not start while the service shuts down")
                self.gateway = _connect(address)
            except BaseException:
                self._end(0)
                raise

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the JVM; kill it if it does not exit in time."""
        self.gateway.shutdown()
        self._end(SECONDS_TO_END)

    def _end(self, seconds: float) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _start(options: SparkOptions, conf: Path, address: Path, log: Path) -> subprocess.Popen[bytes]:
    """Run spark-submit with PySpark's gateway as its program; the gateway writes its address to a file."""
    spark = _find_spark_home()
    for left in ("blocks", "work"):  # left over from a JVM that was killed
        shutil.rmtree(options.scratch / left, ignore_errors=True)
    environment = os.environ | {
        "JAVA_HOME": str(java.home(options.scratch)),
        "SPARK_HOME": spark,
        "SPARK_CONNECT_MODE": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PACKAGES), os.environ.get("PYTHONPATH")])),
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
    }
    if options.is_local:
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
        environment["SPARK_WORKER_DIR"] = str(options.scratch / "work")
    # The settings go into a private file, not into arguments, because they may include passwords.
    conf.write_text(properties(_configuration(options)))
    with log.open("ab") as output:
        return subprocess.Popen(
            [
                os.path.join(spark, "bin", "spark-submit"),
                *("--properties-file", str(conf), "--load-spark-defaults", "pyspark-shell"),
            ],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environment,
            process_group=0,  # a terminal's Ctrl-C goes to this process only
        )


def _configuration(options: SparkOptions) -> dict[str, str]:
    """The session's configuration; for a cluster, with the engine among the archives."""
    conf = configuration(options)
    if not options.is_local:
        conf["spark.archives"] = ",".join(filter(None, [conf.get("spark.archives"), pack(options.scratch)]))
    return conf


def _connect(address: Path) -> JavaGateway:
    """PySpark's gateway to the JVM; PySpark reads the address from environment variables."""
    with address.open("rb") as info:
        port, secret = read_int(info), UTF8Deserializer().loads(info)
    told = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    with _ENVIRONMENT:
        os.environ.update(told)
        try:
            return launch_gateway()
        finally:
            for name in told:
                del os.environ[name]


def _ended(log: Path, said: int) -> str:
    """The last lines of the log after its first `said` bytes, without Java's stack traces."""
    lines = log.read_bytes()[said:].decode(errors="replace").splitlines()
    return "; ".join([line for line in lines if line.strip() and not line[0].isspace()][-3:])
