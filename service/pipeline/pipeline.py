"""The pipeline over a running service: what moves rows in and out beside its doors."""

from __future__ import annotations

from service.pipeline.sinks import Sinks
from service.runtime import Runtime


class Pipeline:
    """Opened once the runtime is ready, closed before it is."""

    def __init__(self, runtime: Runtime) -> None:
        self.sinks = Sinks(runtime)

    @classmethod
    def open(cls, runtime: Runtime) -> Pipeline:
        """Goes on with what the catalog says. Blocks."""
        pipeline = cls(runtime)
        pipeline.sinks.restore()
        return pipeline

    def close(self) -> None:
        """Ends what runs, where it can be gone on with. Blocks."""
        self.sinks.stop()
