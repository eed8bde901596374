"""The beginning of a service: the server of its children loads their modules beside the service's own.

Each keeps a core busy for seconds. A server that began only when the service is ready would take a core from
its first requests: half of the time of a first load of a million rows.
"""

from __future__ import annotations

from importlib import import_module

from engine.kernels.parallel import threads
from engine.processes import children
from service.privacy import keep_private

PRELOADED = (
    "engine.processes.job_process",
    "engine.processes.large_kernels",
    "planner.long_texts",
    "service.reading.query_worker",
)
"""What modules of the service ask the server to load, which they do only when they are loaded themselves."""


def serve() -> None:
    """Serves, and ends the process."""
    keep_private()
    if threads.available() > 1:  # a single core is the service's own
        for module in PRELOADED:
            children.preload(module)
        children.begin()
    import_module("service.process.serving").serve()  # it takes seconds to load
