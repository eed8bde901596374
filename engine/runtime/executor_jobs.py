"""Making jobs for executors, reading their changes, and staging their outcomes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.operators.operator import Operator
from engine.operators.running_dataflow import RunningDataflow
from engine.plan.fingerprint import fingerprint
from engine.plan.nodes import Node
from engine.runtime.execution import ExecutorJob, JobTable, Outcome, Stored, ViewsFailed
from engine.runtime.kept import every_operator, kept_states
from engine.runtime.options import Options
from engine.runtime.rewriting import opened
from engine.runtime.spill import TextPart
from engine.state.batch_deltas import delta_of
from engine.state.dictionary import Dictionary
from engine.state.store.directory import StateDirectory, Writing
from engine.state.store.files import BatchFile, TextFile
from engine.state.store.manifest import Manifest


def job_over(
    manifest: Manifest,
    dictionary: Dictionary,
    options: Options,
    name: str,
    tables: Iterable[JobTable],
    views: Mapping[str, Node],
) -> ExecutorJob:
    """A job of `views` over the state that a manifest names, without any changes yet."""
    return ExecutorJob(
        name=name,
        tables=tuple(tables),
        views=tuple(views.items()),
        epoch=manifest.upper,
        since=manifest.upper,
        state=manifest.arrangements,
        texts=manifest.texts,
        exceptions=dictionary.exceptions,
        max_rounds=options.max_rounds,
        rebuild=options.rebuild,
    )


def text_files(parts: Sequence[TextPart], dictionary: Dictionary, writing: Writing) -> tuple[TextFile, ...]:
    """The files of all texts; those that are in none of the parts are written."""
    files = tuple(part.file for part in parts)
    written, entries = parts[-1].last if parts else 0, len(dictionary)
    if entries > written:
        files = (*files, writing.write_texts(*dictionary.slice(written, entries)))
    return files


def read_stored(
    stored: Stored,
    directory: StateDirectory,
    number: int = 0,
    parts: int = 1,
    wanted: frozenset[int] | None = None,
) -> np.ndarray:
    """Part `number` of `parts` of the changes that lie in files, as a delta; words that are not `wanted` may
    have any value."""
    stretches = [
        (directory.open(file).rows, file.rows * number // parts, file.rows * (number + 1) // parts)
        for file in stored.files
    ]
    delta = delta_of(stretches, stored.columns, wanted)
    np.maximum(delta[-2], stored.since, out=delta[-2])
    return delta


def receive(
    dataflow: RunningDataflow, outcome: Outcome, directory: StateDirectory, dictionary: Dictionary
) -> None:
    """Stage an executor's outcome: once it is published, operators hold the new batches by their files."""
    for file in outcome.texts:
        dictionary.absorb(*directory.read_texts(file))
    step = dataflow.step()
    for name, state in kept_states(dataflow.operators.items()):
        files = outcome.files.get(name)
        if files:
            state.receive(tuple(opened(directory, state.trace, file) for file in files), step)


def with_outcome(manifest: Manifest, outcome: Outcome, upper: int) -> Manifest:
    """The state of `manifest` after an advance to `upper` with this outcome."""
    files: dict[str, tuple[BatchFile, ...]] = dict(manifest.arrangements)
    for name, new in outcome.files.items():
        files[name] = (*files.get(name, ()), *new)
    return replace(manifest, upper=upper, arrangements=files, texts=(*manifest.texts, *outcome.texts))


def failed_operator(dataflow: RunningDataflow, failure: ViewsFailed) -> Operator | None:
    """The operator of this dataflow that failed in the executor; None if it is not found."""
    for path, operator in every_operator(dataflow.operators.items()):
        if not _is_local(path) and fingerprint(*path) == failure.fingerprint:
            return operator
    return None


def _is_local(path: tuple[Hashable, ...]) -> bool:
    """Whether a path is known in this process only: the path of an entry into a loop, which never fails."""
    return any(isinstance(key, tuple) and key[0] == "enter" for key in path)
