"""Sessions on a Connect server. Only settings of the session are made; the driver's are the server's own."""

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
"""Waits half a minute for a server that does not answer; PySpark's default is ten minutes."""


class Remote:
    """A Connect session, with the engine among its archives."""

    def __init__(self, options: SparkOptions) -> None:
        """Open the session. Raises SparkUnavailable if that fails."""
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
        """Whether the server still knows the session."""
        try:
            self.session.conf.get("spark.sql.session.timeZone")  # any call shows whether the session lives
        except (PySparkException, grpc.RpcError):
            return False
        return True

    def close(self) -> None:
        """End the session."""
        self.session.stop()
        os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # PySpark sets it once sessions are Connect's
