"""Arrangements: a collection sorted by a key, kept as a trace, and shared by all its readers.

During an advance an arrangement consists of its published batches, then the new batches of earlier steps,
then the current step's batch. Readers see this as a table (`engine.kernels.layers`): `before()` excludes the
current step's batch and `after()` includes it, so that a join counts the meeting of two changes only once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Protocol

import numpy as np

from engine.kernels.arrange import SLOT_TOP_HIGH
from engine.kernels.collapse import collapse
from engine.kernels.floatmoments import PAIR_DIFFS, arrange_pairs
from engine.kernels.floatsums import DIFFS, arrange_floats
from engine.kernels.lookup import WALK
from engine.kernels.magnitudes import mass
from engine.kernels.narrow.narrow_rows import NARROW, Batch, as_matrix
from engine.kernels.parallel import threads
from engine.kernels.parallel.divided_sort import arrange_delta, arrange_delta_sums, consolidated_rows
from engine.kernels.parallel.threads import Beside
from engine.kernels.stepping import opcodes
from engine.kernels.stepping.tables import TOTAL_MASS
from engine.operators.counts import LIGHT, MOST, require_small_counts
from engine.operators.operator import Instruction, Operator, Step
from engine.operators.slots import Slot, narrowed
from engine.state.dictionary import Dictionary
from engine.state.layer import Layer
from engine.state.layer_merge import BESIDE
from engine.state.packed_times import Frontier
from engine.state.trace import Trace


class ArrangementReader(Protocol):
    """The part of an arrangement that readers use, in any scope."""

    width: int
    depth: int

    @property
    def batch(self) -> Batch | None:
        """The rows that the current step adds."""

    @property
    def published(self) -> int:
        """How many lines of the table are published batches."""

    @property
    def changed(self) -> int:
        """How many rows the current step changes."""

    def look_up_by(self, key: int) -> None:
        """Announce that the reader looks up the first `key` words."""

    def before(self) -> np.ndarray:
        """The table without the current step's batch."""

    def after(self) -> np.ndarray:
        """The table with the current step's batch."""


class Arrangement(Operator):
    """The input's columns in the order `columns`, key first, as rows `[words | rounds | epoch | diff]`."""

    keeps_epochs = False
    """Whether publishing leaves the trace's `since` as it is."""

    def __init__(
        self, source: Operator, columns: tuple[int, ...], width: int, depth: int, diffs: int = 1
    ) -> None:
        """`width` is the number of words of the input; the input's epochs follow them."""
        super().__init__([source])
        self.order = np.array([*columns, width], np.int64)
        """int64[P + 1]: the positions, in a delta, of the words to keep and of the epoch."""
        self.width = len(columns)
        """Words of a row, without rounds."""
        self.depth = depth
        """Rounds of a row: the number of loops around the operator."""
        self.trace = Trace(self.width + depth, diffs)
        """The published batches."""
        self.fingerprint = ""
        """See `engine.runtime.kept`; empty until somebody asks."""
        self.touched = False
        """Whether the advance has changes to publish or abort."""
        self.distinct = self.width
        """The leading words whose counts are added up by readers: those of a row, or of its group."""
        self.staged = 0
        """Rows of differences that the advance has added so far."""
        self._publications = 0
        self.batch: Batch | None = None
        """The current step's rows, None if it has none."""
        self._fresh: list[Layer] = []
        self._indexed: Beside[Layer] | None = None
        self._mass = 0
        self._replaced: Trace | None = None
        self._received: tuple[Layer, ...] = ()

    def look_up_by(self, key: int) -> None:
        """Announce a reader that looks up the first `key` words; the first reader to do so gets an index."""
        if self.trace.key == 0:
            self.trace.key = key

    @property
    def published(self) -> int:
        """How many lines of the table are published batches."""
        return self.trace.count

    @property
    def label(self) -> str:
        return self.inputs[0].label

    @property
    def changed(self) -> int:
        return 0 if self.batch is None else len(self.batch)

    @property
    def has_changes(self) -> bool:
        return self.batch is not None

    def step(self, step: Step) -> None:
        if self.batch is not None:
            self.end_step()
        delta, keep = self.inputs[0].marked()
        if delta is not None:
            batch = self.arrange(delta, step) if keep is None else self.arrange_kept(delta, keep, step)
            self.take(batch, step, mass(delta[-1]))

    @property
    def instruction(self) -> Instruction | None:
        if type(self).arrange is not Arrangement.arrange:
            return None
        return Instruction(opcodes.ARRANGE, (self.inputs[0],), self.keeps_epochs, self.order)

    @property
    def _light(self) -> int:
        """The mass of all rows that needed no look; compiled code counts it where it can see it."""
        return self._mass if self.line is None else int(self.line[TOTAL_MASS])

    @_light.setter
    def _light(self, mass: float) -> None:
        self._mass = min(int(mass), 2 * MOST - 1)
        if self.line is not None:
            self.line[TOTAL_MASS] = self._mass

    def show_counts(self, line: np.ndarray | None) -> None:
        mass = self._light
        super().show_counts(line)
        self._light = mass

    @property
    def reads(self) -> frozenset[int]:
        return frozenset(self.order[:-1].tolist())

    def stays_light(self, mass: float) -> bool:
        """Whether rows whose counts have this mass need no look at those that are there."""
        return self._light + mass < MOST / 2

    def inserted(self, passed: int) -> None:
        """Note that compiled code has published a step: it has added rows to the trace, or its readers have
        `passed` over rows."""

    def take_steps(self, batch: np.ndarray, staged: int, mass: float, step: Step) -> None:
        """Add what compiled code has added in a few steps: `staged` rows, whose counts have this mass, and
        which `batch` is the sum of."""
        step.touch(self)
        self.staged += staged
        self._light += mass
        if len(batch):
            self.batch = batch
            self.end_step()

    def take(self, batch: Batch, step: Step, mass: float) -> None:
        """Make `batch` the current step's batch; the magnitudes of its counts add up to at most `mass`.

        Raises OverflowError if a row would be there too often.
        """
        if len(batch):
            self.show(batch)
            self.staged += len(batch)
            self.made += len(batch)
            step.touch(self)
            self._weigh(batch, mass, step)
            if len(batch) >= BESIDE and self.depth == 0 and self.trace.key > 0:
                self._indexed = Beside(partial(Layer(batch).indexed, self.trace.key))

    def _weigh(self, batch: Batch, mass: float, step: Step) -> None:
        """Look at the rows of a batch if it is not light, or if the light ones may be too many by now."""
        if mass < LIGHT:
            self._light += mass
        if mass >= LIGHT or not self.stays_light(0):
            require_small_counts(as_matrix(batch), self.after(), self.distinct, self.width + self.depth, step)

    def show(self, batch: Batch | None) -> None:
        """Let readers see `batch` as the current step's, without counting it."""
        self.batch = batch
        if batch is not None:
            self._register(self._before, Layer(batch))

    def arrange(self, delta: np.ndarray, step: Step) -> Batch:
        """The delta as a sorted batch of the arrangement's rows, at the step's rounds; a large one without
        rounds is narrow."""
        return arrange_delta(delta, self.order, step.array)

    @property
    def takes_kept(self) -> bool:
        """Whether it can `arrange_kept` rows."""
        return type(self).arrange is Arrangement.arrange

    def arrange_kept(self, delta: np.ndarray, keep: np.ndarray, step: Step) -> Batch:
        """As `arrange`, of those rows of a large delta for which `keep` is true."""
        return arrange_delta(delta, self.order, step.array, keep)

    @property
    def _before(self) -> int:
        """How many lines of the table are there without the current step's batch."""
        return self.trace.count + len(self._fresh)

    def before(self) -> np.ndarray:
        """The table without the current step's batch."""
        return self.trace.table[: self._before]

    def after(self) -> np.ndarray:
        """The table with the current step's batch."""
        return self.trace.table[: self._before + (self.batch is not None)]

    @property
    def staged_batches(self) -> list[Batch]:
        """The batches that the advance added in earlier steps."""
        return [layer.rows for layer in self._fresh]

    def batches(self) -> list[Batch]:
        """The batches of `after()`, in the table's order."""
        current: list[Batch] = [] if self.batch is None else [self.batch]
        return [*self.trace.batches(), *(layer.rows for layer in self._fresh), *current]

    @property
    def staged_layers(self) -> tuple[Layer, ...]:
        """What the advance has added so far, here or by an executor."""
        current = () if self.batch is None else (Layer(self.batch),)
        return (*self._fresh, *current, *self._received)

    def export_rows(self, rows: Batch) -> np.ndarray:
        """A batch in the form of files, the same in every process."""
        return as_matrix(self.trace.export_rows(rows))

    def import_rows(self, rows: np.ndarray) -> np.ndarray:
        """A file's batch in the form that it has in memory."""
        return self.trace.import_rows(rows)

    def receive(self, layers: tuple[Layer, ...], step: Step) -> None:
        """Stage mapped layers, which an executor computed, as what the advance adds."""
        self._received = layers
        self.received += sum(map(len, layers))
        step.touch(self)

    @property
    def version(self) -> tuple[int, int]:
        """Another one whenever changes have been published."""
        return self._publications, self.emitted

    def publish(self, frontier: Frontier) -> None:
        self._publications += 1
        self.trace.since = since = frontier.since
        self._insert(since)
        if not frontier.order.is_total:
            self.trace.compact_to(frontier)
        self.reset()

    def _insert(self, since: int) -> None:
        """Insert what the advance has added into the trace, with epochs advanced to `since`."""
        fresh = self._fresh
        if fresh and self.batch is not None:
            self.end_step(indexed=False)
        while len(fresh) > 1:
            last = fresh.pop()
            fresh[-1] = self.trace.merged(fresh[-1], last, since)
        if fresh:
            layer = fresh.pop()
            self.trace.insert(layer.rows, layer.index)
        elif self.batch is not None:
            self.trace.insert(self.batch)
        self.trace.map(self._received)

    def adopt(self, trace: Trace) -> None:
        """Publish another trace in the place of its own."""
        self._publications += 1
        self.trace = trace
        self.reset()

    def abort(self) -> None:
        if self._replaced is not None:
            self.trace = self._replaced
        self._fresh.clear()
        self.reset()

    def undo(self) -> Callable[[], None]:
        trace = self.trace if self._replaced is None else self._replaced
        restore = trace.saved()

        def undo() -> None:
            restore()
            self.trace = trace
            self.reset()

        return undo

    def reset(self) -> None:
        """Read the trace anew; forget what an advance left beside it."""
        self._replaced = None
        self._received = ()
        self._indexed = None
        self.batch = None
        self.staged = 0
        self.touched = False

    def start_over(self, step: Step) -> None:
        """Behave as if no row had ever come, until the advance is published or aborted."""
        step.touch(self)
        self._replaced = self.trace
        self.trace = self.trace.emptied()

    def before_starting_over(self, epoch: int) -> Arrangement:
        """What was published before `start_over`; see `_collapsed`."""
        return self._collapsed(self._replaced.batches() if self._replaced is not None else (), epoch)

    def after_starting_over(self, epoch: int) -> Arrangement:
        """What came since `start_over`; see `_collapsed`."""
        if self.batch is not None:
            self.end_step()
        merged = self.trace.merge_all([layer.rows for layer in self._fresh], 0)
        self._fresh[:] = [Layer(merged)]
        return self._collapsed([merged], epoch)

    def _collapsed(self, batches: Sequence[Batch], epoch: int) -> Arrangement:
        """An arrangement without rounds whose only batch, new at `epoch`, is the sum of `batches`."""
        collapsed = copy(self)
        collapsed.depth = 0
        collapsed.trace = self.trace.emptied()
        collapsed._fresh = []
        collapsed._indexed = None
        merged = self.trace.merge_all(batches, 0)
        collapsed.batch = collapse(merged, self.width, self.depth, epoch)
        collapsed._register(0, Layer(collapsed.batch))
        return collapsed

    def clear(self) -> None:
        """Release the step's deltas, and end it if they were many."""
        super().clear()
        if self.depth == 0 and self.changed >= NARROW:
            self.end_step(indexed=False)

    def end_step(self, *, indexed: bool = True) -> None:
        """End the current step: its batch joins those of earlier steps. A large one becomes narrow, because
        nobody reads it as changes any more."""
        batch = self.batch
        ahead, self._indexed = self._indexed, None
        self.batch = None
        if batch is None:
            return
        size = len(batch)
        fresh = self._fresh
        layer = Layer(batch)
        while fresh and len(fresh[-1]) <= 2 * len(layer):
            layer, ahead = self.trace.merged(fresh.pop(), layer, 0), None
        fresh.append((layer if ahead is None else ahead.result()).narrowed)
        first = self.trace.count
        self._register(self._before - 1, fresh[-1])
        if not indexed:
            return
        # The next step probably looks up about as many keys as this one changed.
        for place, layer in enumerate(fresh):
            if layer.index is None and len(layer) > WALK * size:
                fresh[place] = layer.indexed(self.trace.key)
                self._register(first + place, fresh[place])

    def restore_staged(self, batches: Sequence[np.ndarray], step: Step) -> None:
        """Restore an advance that added `batches` in earlier steps, the largest first."""
        for batch in batches:
            self._fresh.append(Layer(batch))
            self._register(self._before - 1, self._fresh[-1])
            self.staged += len(batch)
        if batches:
            step.touch(self)

    def _register(self, line: int, layer: Layer) -> None:
        self.trace.make_room(line + 1)
        layer.register(self.trace.table, line, self.trace.key)


class SumsArrangement(Arrangement):
    """The input's rows by key; the diffs are what each row adds to the slots of a reduce."""

    def __init__(
        self,
        source: Operator,
        columns: tuple[int, ...],
        width: int,
        depth: int,
        slots: tuple[Slot, ...],
        dictionary: Dictionary,
    ) -> None:
        super().__init__(source, columns, width, depth, len(slots))
        self.slots = np.array(slots, np.int64).reshape(-1, 3)
        self._may_be_wide = bool((self.slots[:, 0] == SLOT_TOP_HIGH).any())
        self._dictionary = dictionary

    @property
    def instruction(self) -> Instruction | None:
        if self._may_be_wide:
            return None
        slots = self.slots.ravel()
        return Instruction(opcodes.ARRANGE_SUMS, (self.inputs[0],), first=self.order, second=slots)

    @property
    def reads(self) -> frozenset[int]:
        return super().reads.union(self.slots[:, 1:].ravel().tolist())

    def step(self, step: Step) -> None:
        source = self.inputs[0]
        if not source.waits:
            super().step(step)
            return
        if self.batch is not None:
            self.end_step()
        parts, total = [], 0.0
        for piece in source.pieces(step):
            parts.append(as_matrix(self.arrange(np.ascontiguousarray(piece), step)))
            total += mass(piece[-1])
        if parts:
            rows = threads.joined(parts)
            parts.clear()
            self.take(consolidated_rows(rows, self.width + self.depth + 1), step, total)

    @property
    def takes_kept(self) -> bool:
        return not self._may_be_wide

    def arrange_kept(self, delta: np.ndarray, keep: np.ndarray, step: Step) -> Batch:
        return arrange_delta_sums(delta, self.order, step.array, self.slots, keep)

    def arrange(self, delta: np.ndarray, step: Step) -> Batch:
        slots = self.slots
        if self._may_be_wide:
            delta, slots = narrowed(delta, slots, self._dictionary)
        return arrange_delta_sums(delta, self.order, step.array, slots)


class FloatsArrangement(Arrangement):
    """The input's rows by key and by the bucket of a float; the diffs are the float's exact parts."""

    def __init__(
        self, source: Operator, columns: tuple[int, ...], argument: int, width: int, depth: int
    ) -> None:
        """`columns` are the key's; `argument` is the word that is summed."""
        super().__init__(source, (*columns, argument), width, depth, DIFFS)
        self._key = np.array([*columns, width], np.int64)
        self._argument = argument

    def arrange(self, delta: np.ndarray, step: Step) -> np.ndarray:
        return arrange_floats(delta, self._key, step.array, self._argument)


class FloatPairsArrangement(Arrangement):
    """The input's rows by key and by the parts of two floats; the diffs are their exact parts and
    products."""

    def __init__(
        self, source: Operator, columns: tuple[int, ...], pair: tuple[int, int], width: int, depth: int
    ) -> None:
        """`columns` are the key's; `pair` are the words that are multiplied."""
        super().__init__(source, (*columns, pair[0]), width, depth, PAIR_DIFFS)
        self._key = np.array([*columns, width], np.int64)
        self._pair = pair

    @property
    def reads(self) -> frozenset[int]:
        return super().reads.union(self._pair)

    def arrange(self, delta: np.ndarray, step: Step) -> np.ndarray:
        return arrange_pairs(delta, self._key, step.array, *self._pair)
