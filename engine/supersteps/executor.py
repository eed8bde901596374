"""An executor that runs jobs in supersteps, over any transport of messages."""

from __future__ import annotations

import pickle
import shutil
import uuid
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.errors import EngineError
from engine.operators.groupwise import GeneralOperator
from engine.operators.interner import HashedArrangement
from engine.operators.python_functions import FlatMapOperator, InspectOperator
from engine.runtime.execution import (
    BadRows,
    Declined,
    ExecutorJob,
    KeyTaken,
    Outcome,
    RowScan,
    Scanned,
    Stored,
    ViewsFailed,
)
from engine.state.dictionary import Dictionary
from engine.state.store.directory import StateDirectory
from engine.state.store.files import BatchFile, TextFile
from engine.supersteps.fresh_keys import TAKEN
from engine.supersteps.messages import Message
from engine.supersteps.rendered import RenderedTask
from engine.supersteps.scan import BAD_ROW
from engine.supersteps.shard import DECLINED, EXAMPLES
from engine.supersteps.spec import Spec, SuperstepLimits
from engine.supersteps.superstep_program import SuperstepProgram

SPEC = "spec"
TAG = "freshet"
_IN_PROCESS = (FlatMapOperator, GeneralOperator, HashedArrangement, InspectOperator)
"""Operators that hold functions of this process, or exist only in the Python library."""


@dataclass(frozen=True)
class SuperstepTask:
    """What a transport runs: `program`, in `shards` shards, with the specification in the file `spec`.

    `name` describes the task to people, `tag` identifies it, and `scans` has the rows to read.
    """

    name: str
    tag: str
    spec: Path
    shards: int
    program: SuperstepProgram
    scans: Mapping[str, RowScan]


class Transport(Protocol):
    """Delivers the messages between shards."""

    def run(self, task: SuperstepTask) -> Sequence[Message]:
        """Run all shards to their end; returns their reports. Raises ExecutionFailed if that fails."""


class SuperstepExecutor:
    """Runs jobs over the state in `directory`; `scratch` has a subdirectory for each epoch being computed."""

    def __init__(
        self,
        directory: StateDirectory,
        scratch: Path,
        transport: Transport,
        shards: int,
        limits: SuperstepLimits,
    ) -> None:
        self.directory = directory
        self.shards = shards
        self.tag = TAG
        self._scratch = scratch
        self._transport = transport
        self._limits = limits

    def tagged(self, tag: str) -> SuperstepExecutor:
        """The same executor with another tag: Spark shows its jobs, and cancels them, by the tag."""
        other = copy(self)
        other.tag = tag
        return other

    def run(self, job: ExecutorJob) -> Outcome:
        """Compute a job in supersteps; see `Executor.run`."""
        scratch = self._scratch / uuid.uuid4().hex
        scratch.mkdir(parents=True)
        try:
            return self._run(job, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _run(self, job: ExecutorJob, scratch: Path) -> Outcome:
        spec = self._spec(job, scratch)
        rendered = RenderedTask(spec, Dictionary())
        unfit = next((op for op in rendered.operators if isinstance(op, _IN_PROCESS)), None)
        if unfit is not None:
            raise Declined(f"the operator {unfit.kind} runs in the process only")
        (scratch / SPEC).write_bytes(pickle.dumps(spec))
        program = rendered.program()
        reports = self._transport.run(
            SuperstepTask(job.name, self.tag, scratch / SPEC, self.shards, program, job.scans)
        )
        if sorted(report.to for report in reports) != list(range(self.shards)):
            raise RuntimeError(f"{len(reports)} reports came from {self.shards} shards")
        return _outcome([report.about for report in reports])

    def _spec(self, job: ExecutorJob, scratch: Path) -> Spec:
        stored = dict(job.stored) | {name: self._stored(delta) for name, delta in job.deltas.items()}
        scans = {name: replace(scan, frame=None) for name, scan in job.scans.items()}
        prefix = job.prefix or self.directory.prefix
        filed = replace(job, deltas={}, stored=stored, scans=scans, prefix=prefix)
        return Spec(filed, self.directory.path.absolute(), scratch.absolute(), self.shards, self._limits)

    def _stored(self, delta: np.ndarray) -> Stored:
        """The delta in a file, which is unreferenced once the job is done."""
        file = self.directory.write(np.ascontiguousarray(delta.T))
        return Stored((file,), tuple(range(len(delta))))


def _outcome(reports: Sequence[Any]) -> Outcome:
    """The outcome of all shards' reports. Raises the first error if shards report any."""
    errors = [tuple(report["error"]) for report in reports if report["error"] is not None]
    if errors:
        raise _error_of(*min(errors))
    files: dict[str, list[BatchFile]] = {}
    texts: dict[str, TextFile] = {}
    scanned = Scanned()
    for report in reports:
        for name, file in report["files"]:
            files.setdefault(name, []).append(BatchFile(**file))
        for name, *others in report["texts"]:
            texts[name] = TextFile(name, *others)
        rows, skipped, examples = report["scanned"]
        scanned = Scanned(
            scanned.rows + rows, scanned.skipped + skipped, (*scanned.examples, *examples)[:EXAMPLES]
        )
    return Outcome({name: tuple(each) for name, each in files.items()}, tuple(texts.values()), scanned)


def _error_of(what: str, message: str, hint: str) -> Exception:
    if what == DECLINED:
        return Declined(message)
    if what == TAKEN:
        return KeyTaken(message, tuple(map(int, hint.split(","))))
    if what == BAD_ROW:
        return BadRows(message, hint)
    return ViewsFailed(what, EngineError(message, hint))
