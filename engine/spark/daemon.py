"""PySpark's daemon with the engine loaded: what it forks for each task slot has every kernel ready at once.

Loading all compiled kernels takes a fresh Python a second, a fork nothing. Spark runs this
module in place of `pyspark.daemon` where `spark.python.daemon.module` names it. A fork copies
the one thread that calls it, so that nothing imported here may have started another that matters.
"""

from __future__ import annotations

import gc

import pyarrow.compute
import pyarrow.ipc
import pyspark.worker
from pyspark.daemon import manager

import engine.runtime.engine
import engine.spark.spark_tasks
from engine.kernels.build import found

LOADED = (engine.runtime.engine, engine.spark.spark_tasks, pyarrow.compute, pyarrow.ipc, pyspark.worker)
"""What every worker needs."""

if __name__ == "__main__":
    for kernel in found():
        kernel.ready()
    gc.collect()
    gc.freeze()  # the collector of a worker would write to, and so copy, the pages of all that is loaded
    manager()
