"""PySpark's daemon with the engine loaded, so that workers forked from it have every kernel at once.

Loading all compiled kernels takes a fresh Python a second; a fork takes no time. Spark runs this module in
place of `pyspark.daemon` if `spark.python.daemon.module` names it. A fork copies only the calling thread, so
modules imported here must not start threads that matter.
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
    gc.freeze()  # a worker's collector would write to all loaded pages, and so copy them
    manager()
