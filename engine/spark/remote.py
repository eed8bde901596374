"""Sessions on a Connect server. The settings of its driver are its own: we set what is the session's."""

from __future__ import annotations

import os

import grpc
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.connect.client.retries import DefaultPolicy

from engine.errors import SparkUnavailable
from engine.spark.configuration import SparkOptions, session_configuration
from engine.spark.package import pack

RETRIES = DefaultPolicy(max_retries=10, max_backoff=5_000)
"""What a server that does not answer is given: half a minute. PySpark's own is ten."""


class Remote:
    """A session, with the engine among its archives."""

    def __init__(self, options: SparkOptions) -> None:
        """Opens it. SparkUnavailable if it cannot be."""
        try:
            self.session = SparkSession.builder.remote(options.remote).create()
            self.session.client.set_retry_policies([RETRIES])
            for key, value in session_configuration(options).items():
                self.session.conf.set(key, value)
            self.session.addArtifacts(pack(options.scratch), archive=True)
        except (PySparkException, grpc.RpcError) as error:
            reason = str(error).strip().splitlines()[0]
            raise SparkUnavailable(f"no Spark session at {options.remote}: {reason}") from error

    def is_alive(self) -> bool:
        try:
            self.session.conf.get("spark.sql.session.timeZone")  # any call: the server knows us, or not
        except (PySparkException, grpc.RpcError):
            return False
        return True

    def close(self) -> None:
        self.session.stop()
        os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # PySpark's mark that sessions are Connect's
