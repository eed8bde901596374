"""Jobs for executors, and what is done with their outcomes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from engine.dataflow import Dataflow
from engine.dictionary import Dictionary
from engine.execution import Outcome, ViewsFailed
from engine.fingerprint import fingerprint
from engine.operators.operator import Operator
from engine.rewriting import opened
from engine.states import every_operator, kept_states
from engine.store.directory import StateDirectory
from engine.store.files import BatchFile
from engine.store.manifest import Manifest


def receive(dataflow: Dataflow, outcome: Outcome, directory: StateDirectory, dictionary: Dictionary) -> None:
    """Stage what was computed elsewhere: operators hold it by its files when it is published."""
    for file in outcome.texts:
        dictionary.absorb(*directory.read_texts(file))
    step = dataflow.step()
    for name, state in kept_states(dataflow.operators.items()):
        files = outcome.files.get(name)
        if files:
            state.receive(tuple(opened(directory, state.trace, file) for file in files), step)


def with_outcome(manifest: Manifest, outcome: Outcome, upper: int) -> Manifest:
    """The state of `manifest` after an advance to `upper`."""
    files: dict[str, tuple[BatchFile, ...]] = dict(manifest.arrangements)
    for name, new in outcome.files.items():
        files[name] = (*files.get(name, ()), *new)
    return replace(manifest, upper=upper, arrangements=files, texts=(*manifest.texts, *outcome.texts))


def failed_operator(dataflow: Dataflow, failure: ViewsFailed) -> Operator | None:
    """The operator that has failed elsewhere."""
    for path, operator in every_operator(dataflow.operators.items()):
        if not _is_local(path) and fingerprint(*path) == failure.fingerprint:
            return operator
    return None


def _is_local(path: tuple[Hashable, ...]) -> bool:
    """Whether a path means something to this process alone: that of what enters a loop, which never fails."""
    return any(isinstance(key, tuple) and key[0] == "enter" for key in path)
