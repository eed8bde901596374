"""Sessions on a Connect server. Only settings of the session are made; the driver's are the server's own."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import grpc
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
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

    def fetched(self, frame: DataFrame, most: float) -> Generator[pa.RecordBatch, None, None]:
        """The rows of a frame as the server sends them; how it holds them is its own affair."""
        client: Any = self.session.client
        remote: Any = frame
        for found in client.to_table_as_iterator(remote._plan.to_proto(client), remote._plan.observations):
            if isinstance(found, pa.Table):  # the first may be a schema
                yield from found.to_batches()

    def close(self) -> None:
        """End the session."""
        self.session.stop()
        os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # PySpark sets it once sessions are Connect's
