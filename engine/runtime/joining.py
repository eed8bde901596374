"""Joining: a side advance becomes a staged advance of the running dataflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from engine.operators.arrangement import Arrangement
from engine.operators.history import History
from engine.operators.running_dataflow import RunningDataflow
from engine.runtime.kept import kept_states
from engine.runtime.registry import Registry
from engine.runtime.side_advance import Outdated, SideAdvance
from engine.runtime.side_files import SideFiles
from engine.state.layer import Layer
from engine.state.packed_times import Frontier
from engine.state.store.files import BatchFile
from engine.state.store.manifest import Manifest
from engine.state.trace import Trace


@dataclass(eq=False)
class ReplacedTrace:
    """A staged change of an arrangement: another trace takes the place of its own."""

    arrangement: Arrangement
    trace: Trace
    touched: bool = False

    def publish(self, frontier: Frontier) -> None:
        self.trace.since = frontier.since
        self.arrangement.adopt(self.trace)

    def abort(self) -> None:
        """Leave the arrangement as it is."""

    def undo(self) -> Callable[[], None]:
        return self.arrangement.undo()


def check_current(aside: SideAdvance, registry: Registry) -> None:
    """Raise Outdated unless the views that a side advance concerns, and their sources, are still the same.

    Views that were dropped or have failed do not matter.
    """
    if any(registry.sources.get(name) is not source for name, source in aside.sources.items()):
        raise Outdated("a table was altered or dropped while a large change was made")
    views, _ = registry.affected(aside.tables, ())
    if any(registry.views[name] is not aside.views.get(name) for name in views):
        raise Outdated("a view was created while a large change was made")


def stage(
    aside: SideAdvance, files: SideFiles, dataflow: RunningDataflow, manifest: Manifest, upper: int
) -> Manifest:
    """Stage what an advance changes. Returns the manifest of the state that follows; `manifest` is that of
    the state before it."""
    running = dict(kept_states(dataflow.operators.items()))
    files.write_failures(running)
    step = dataflow.step()
    saved: dict[str, tuple[BatchFile, ...]] = dict(manifest.arrangements)
    for name, state in aside.reached():
        mine = running.get(name)
        if isinstance(mine, History):
            layers = files.added.get(name, ())
            if layers:
                mine.receive(layers, step)
                saved[name] = (*saved[name], *_files(layers))
        elif mine is not None:
            step.touch(ReplacedTrace(mine, state.trace))
            saved[name] = tuple(_files(state.trace.layers()))
    return replace(manifest, upper=upper, arrangements=saved, since=_since(manifest.since, aside))


def _files(layers: tuple[Layer, ...]) -> list[BatchFile]:
    return [layer.file for layer in layers if layer.file is not None]


def _since(since: Mapping[str, int], aside: SideAdvance) -> dict[str, int]:
    """The same with the advance's own states, which count past epochs in another way."""
    own = {
        name: state.trace.since
        for name, state in aside.reached()
        if name in since and not isinstance(state, History)
    }
    return {**since, **own}
