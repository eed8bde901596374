"""A trace: all differences of a collection, as a spine of immutable sorted batches.

A batch is a matrix of rows `[W words | d rounds | epoch | K diffs]`, sorted by words, rounds and epoch, and
consolidated. Large ones are narrow (`engine.kernels.narrow`), others are int64. Batches lie from the largest
to the smallest; a reader sees each of them, and a row's value is the sum over all.

Two neighbours of similar size are merged. Small merges happen at once. Large merges proceed with every
insertion, so that no single insertion pays for them; until they are done, readers see their two inputs.

A trace that is looked up by key has an index beside each batch that is large enough (`batch_index`).
A large merge builds the index as it proceeds.

Beneath these batches lies the *base*, which insertions never merge: batches that are mapped from files
(`engine.state.store`), in any number and of any size, and those that are being written to files.

Epochs below `since` are no longer told apart: a merge advances them to `since`. A trace that only serves
operators keeps `since` at its frontier and becomes as small as its collection. Rounds are kept.

A trace is not thread-safe, but arrays that `batches()` returned never change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from heapq import heapify, heappop, heappush
from itertools import zip_longest

import numpy as np

from engine.kernels.layers import COLUMNS, ROWS, WORD
from engine.kernels.layers import WIDTH as ROW_WIDTH
from engine.kernels.lookup import WALK
from engine.kernels.merge import compact, merge_step
from engine.kernels.narrow.narrow_rows import Batch, NarrowRows, as_matrix
from engine.kernels.parallel.divided_merge import merge_batches
from engine.kernels.stepping import spine
from engine.kernels.stepping.arena import address_of, copied
from engine.kernels.stepping.spine import end_merge, move
from engine.kernels.times import advance_batch
from engine.state.batch_index import Index
from engine.state.layer import Layer
from engine.state.layer_merge import BESIDE, QUANTUM, LayerMerge
from engine.state.packed_times import Frontier
from engine.state.shown_layers import NursedLayers, ShownLayers
from engine.state.store.files import BatchFile

EFFORT = 10
"""For each inserted row, every merge in progress is owed this many rows."""
AT_ONCE = 128
"""Merges of up to this many rows are done at once."""
CHUNK = 1 << 16
"""Rows that `words` returns at a time."""
_LINES = 8


class Trace:
    """A spine of batches with `width` words and rounds, an epoch, and `diffs` diffs.

    `key` is the number of words by which batches are looked up: 0 if they are not, SPREAD if their first word
    is spread evenly.
    """

    may_merge_beside = True
    """Whether another thread may merge large batches, which needs nothing but them."""
    translates = False
    """Whether rows have another form in files."""
    merges_words = True
    """Whether rows are sorted by their words, so that compiled code may merge them."""

    def __init__(self, width: int, diffs: int = 1, since: int = 0) -> None:
        self.width = width
        """Words and rounds of a row."""
        self.diffs = diffs
        """Diffs of a row."""
        self._base: list[Layer] = []
        self._layers: list[Layer | LayerMerge] = []
        self._merges: list[LayerMerge] = []
        self._held: list[Layer] = []
        self._compacted = 0
        self._inserted = 0
        self._clear()
        self.since = since

    def emptied(self) -> Trace:
        """An empty trace like this one."""
        empty = copy(self)
        empty._base, empty._layers, empty._merges, empty._held = [], [], [], []
        empty._compacted = 0
        empty._clear()
        empty.since, empty.key = self.since, self.key
        return empty

    def _clear(self) -> None:
        """Begin a table without batches."""
        self.table = np.empty((0, COLUMNS), np.int64)
        """The batches as kernels take them (`engine.kernels.layers`); the first `count` lines count."""
        self.spine = np.zeros(spine.SPINE, np.int64)
        """The numbers that compiled code shares with the trace (`engine.kernels.stepping.spine`)."""
        self._numbers = memoryview(self.spine)  # type: ignore[arg-type]
        self._numbers[spine.WIDTH] = self.width
        self._numbers[spine.MERGING] = spine.NOWHERE
        self.nursed: NursedLayers | None = None
        """The nurseries in which batches may lie; None if none do."""
        self.make_room(_LINES)
        self._share()

    @property
    def count(self) -> int:
        """How many batches the table has."""
        return self._numbers[spine.COUNT]

    @property
    def since(self) -> int:
        """Epochs below this one are no longer told apart."""
        return self._numbers[spine.SINCE]

    @since.setter
    def since(self, epoch: int) -> None:
        self._numbers[spine.SINCE] = epoch

    @property
    def key(self) -> int:
        """The number of words that readers look up."""
        return self._numbers[spine.LOOKED_UP]

    @key.setter
    def key(self, words: int) -> None:
        self._numbers[spine.LOOKED_UP] = words

    def make_room(self, lines: int) -> None:
        """Let the table have room for so many lines; a longer one keeps those that are there."""
        if lines > len(self.table):
            table = np.empty((2 * lines, COLUMNS), np.int64)
            table[: len(self.table)] = self.table
            self.table = table
            self._lines = memoryview(table.reshape(-1))  # type: ignore[arg-type]
            self._numbers[spine.TABLE] = address_of(table)
            self._numbers[spine.ROOM] = len(table)

    # Insertions by compiled code

    def nurse(self, nursery: np.ndarray) -> None:
        """Keep the nursery to which compiled code adds batches of the trace, and the one to which it did
        before."""
        nursed = self.nursed
        if nursed is None or nursed.newest is not nursery:
            self.nursed = NursedLayers(nursery, nursed)

    def settle(self) -> None:
        """Take the batches that compiled code has inserted out of their nursery, into arrays of their own.

        The table keeps its lines: a step may be in progress. Merges are left to the next insertion."""
        numbers = self._numbers
        settled = numbers[spine.SETTLED]
        if settled == spine.NOWHERE:
            return
        held, layers = self._held, self._layers
        del layers[len(layers) - (len(held) - settled) :]
        del held[settled:]
        for line in range(settled, self.count):
            layer = self._indexed(self._copied(line), len(layers))
            layers.append(layer)
            held.append(layer)
            layer.register(self.table, line, self.key)
        numbers[spine.SETTLED] = spine.NOWHERE
        numbers[spine.FROM] = 0
        self.nursed = None
        if numbers[spine.MERGING] != spine.NOWHERE:
            numbers[spine.MERGING] = spine.NOWHERE
            numbers[spine.LOOSE] = spine.PINNED

    def leave_nursery(self) -> None:
        """Settle between two steps, once all is merged that is being merged."""
        end_merge(self.spine)
        self.settle()

    def move(self, nursery: np.ndarray, cursor: np.ndarray, most: int, fuel: int) -> int:
        """Move between two steps what lies in an older nursery to another one, until about `fuel` words are
        moved; returns what is left of the fuel, 0 if there is more to move. If more than `most` words of the
        nursery would be taken, the trace takes arrays of its own."""
        rest: int = move(self.spine, nursery, cursor, most, fuel)
        if rest == spine.NO_ROOM:
            self.leave_nursery()
            return 1
        if rest > 0:
            self.nursed = NursedLayers(nursery)
        return rest

    def _copied(self, line: int) -> Layer:
        """A copy of a batch in the nursery."""
        address, rows, columns, *_ = self.table[line].tolist()
        return Layer(copied(address, rows, columns))

    def shown(self) -> ShownLayers:
        """The batches as readers take them. Those in the nursery stay there."""
        numbers, nursed = self._numbers, self.nursed
        settled = numbers[spine.SETTLED]
        if settled == spine.NOWHERE or nursed is None:
            return ShownLayers(tuple(self._held))
        lines = self._lines[COLUMNS * settled : COLUMNS * numbers[spine.COUNT]].tobytes()
        return ShownLayers(tuple(self._held[:settled]), nursed, lines)

    def _share(self) -> None:
        """Tell compiled code how far it may go."""
        numbers = self._numbers
        numbers[spine.SETTLED] = spine.NOWHERE
        loose = 0
        while loose < len(self._layers) and isinstance(self._layers[-1 - loose], Layer):
            loose += 1
        numbers[spine.LOOSE] = len(self._held) - loose if self.merges_words else spine.PINNED
        owed = [merge.payable // EFFORT for merge in self._merges]
        numbers[spine.PAYABLE] = min(owed, default=spine.NOTHING_OWED)

    def _paid(self) -> int:
        """The rows that compiled code has inserted, for which merges in progress are to be paid."""
        unpaid, self._numbers[spine.UNPAID] = self._numbers[spine.UNPAID], 0
        return unpaid

    @property
    def rows(self) -> int:
        """The number of differences held; those of merges in progress count once."""
        if self._numbers[spine.SETTLED] != spine.NOWHERE:
            return int(self.table[: self.count, ROWS].sum())
        return sum(len(batch) for batch in tuple(self._held))

    def batches(self) -> tuple[Batch, ...]:
        """The batches whose sum is the trace."""
        return tuple(layer.rows for layer in self.layers())

    def layers(self) -> tuple[Layer, ...]:
        """The same batches, each with its index and its file."""
        self.settle()
        return tuple(self._held)

    @property
    def first_index(self) -> Index | None:
        """The index of the first batch, by which one sees how its words are spread; None if it has none."""
        return self._held[0].index if self._held else None

    @property
    def memory(self) -> int:
        """Bytes in memory: batches that are in no file, their indexes, and the room of merges in progress."""
        settled, held, nursed = self._numbers[spine.SETTLED], tuple(self._held), 0
        if settled != spine.NOWHERE:
            held, lines = held[:settled], self.table[settled : self.count]
            nursed = WORD * int((lines[:, ROWS] * lines[:, ROW_WIDTH]).sum())
        own = sum(layer.bytes for layer in held if layer.file is None)
        return own + nursed + sum(merge.bytes for merge in tuple(self._merges))

    @property
    def mapped(self) -> int:
        """Bytes of the batches that are in files, with their indexes."""
        return sum(layer.bytes for layer in tuple(self._held) if layer.file is not None)

    # The base

    def files(self) -> list[BatchFile]:
        """The files from which batches are mapped."""
        return [layer.file for layer in self._base if layer.file is not None]

    def map(self, layers: Iterable[Layer]) -> None:
        """Add mapped batches to the base."""
        mapped = list(layers)
        if mapped:
            self._rebase([*self._base, *mapped])

    def capture(self) -> tuple[Layer, ...]:
        """All batches; insertions leave them unmerged until they are exchanged or released."""
        self.settle()
        if self._layers:
            self._merges.clear()
            self._layers.clear()
            self._rebase(list(self._held))
        return tuple(self._base)

    def exchange(self, captured: Collection[Layer], mapped: Iterable[Layer]) -> bool:
        """Replace captured batches by mapped ones with the same rows; false if they are no longer in the
        trace."""
        gone = set(map(id, captured))
        if not gone <= set(map(id, self._base)):
            return False
        self._rebase([*(layer for layer in self._base if id(layer) not in gone), *mapped])
        return True

    def detach(self, kept: Collection[str]) -> bool:
        """Take mapped batches for batches in memory, unless the names of their files are `kept`; returns
        whether there are any."""
        gone = [layer for layer in self._base if layer.file is not None and layer.file.name not in kept]
        return bool(gone) and self.exchange(gone, [Layer(layer.rows, layer.index) for layer in gone])

    def release(self) -> None:
        """Let insertions merge captured batches again that are in no file."""
        self.settle()
        released = [layer for layer in self._base if layer.file is None]
        if released:
            self._layers[:] = sorted((*released, *self._layers), key=len, reverse=True)
            while self._balance():
                pass
            self._rebase([layer for layer in self._base if layer.file is not None])

    def export_rows(self, rows: Batch) -> Batch:
        """A batch in the form of files, the same in every process."""
        return rows

    def import_rows(self, rows: np.ndarray) -> np.ndarray:
        """A file's batch in the form that the trace has in memory."""
        return rows

    def words(self, layer: Layer) -> Iterator[np.ndarray]:
        """The words and rounds of a layer's rows, int64[n, W], some rows at a time."""
        for start in range(0, len(layer), CHUNK):
            yield self.export_rows(layer.rows[start : start + CHUNK])[:, : self.width]

    def renumber(self, numbers: np.ndarray) -> bool:
        """Follow a collection of the dictionary: its entries have new `numbers`, by the old ones. False if
        nothing changes, as in most traces, which have words and no numbers."""
        return False

    def replace(self, translate: Callable[[np.ndarray], np.ndarray]) -> None:
        """Replace every batch by another form of it, which has the same rows in the same order. Merges in
        progress start again."""
        held = [Layer(translate(layer.matrix), layer.index, layer.file).narrowed for layer in self.layers()]
        self._renew(held[: len(self._base)], held[len(self._base) :])

    def saved(self) -> Callable[[], None]:
        """A function that brings back the batches and `since` as they are now. Merges that are in progress
        now start again then."""
        self.settle()
        since, base, rest = self.since, self._held[: len(self._base)], self._held[len(self._base) :]

        def restore() -> None:
            self.since = since
            self._renew(base, rest)

        return restore

    def _renew(self, base: list[Layer], rest: list[Layer]) -> None:
        """Replace all batches, by a base and others."""
        self.settle()
        self._merges.clear()
        self._layers[:] = sorted(rest, key=len, reverse=True)
        while self._balance():
            pass
        self._rebase(base)

    # Merging

    def merge(self, left: Batch, right: Batch, since: int) -> np.ndarray:
        """Merge two batches, with epochs advanced to `since`."""
        return merge_batches(as_matrix(left), as_matrix(right), self.width, since)

    def merge_all(self, batches: Sequence[Batch], since: int) -> np.ndarray:
        """Merge any number of batches, the smallest first, with epochs advanced to `since`.

        A single batch without earlier epochs is returned as it is.
        """
        if not batches:
            return np.empty((0, self.width + 1 + self.diffs), np.int64)
        if len(batches) == 1:
            batch = as_matrix(batches[0])
            is_late = since <= 0 or bool((batch[:, self.width] >= since).all())
            return batch if is_late else compact(batch, self.width, since)
        heap = [(len(batch), place, batch) for place, batch in enumerate(batches)]
        heapify(heap)
        while len(heap) > 1:
            _, _, left = heappop(heap)
            _, place, right = heappop(heap)
            merged = self.merge(left, right, since)
            heappush(heap, (len(merged), place, merged))
        return as_matrix(heap[0][2])

    def settled(self, batches: Sequence[Batch], since: int) -> Batch:
        """The same as `merge_all`; a single narrow batch of one epoch stays narrow, and its rows where they
        are."""
        if len(batches) == 1 and isinstance(batches[0], NarrowRows):
            first, last = batches[0].ends[:, self.width].tolist()
            if first >= since:
                return batches[0]
            if first == last:
                return batches[0].with_word(self.width, since)
        return self.merge_all(batches, since)

    def merge_step(
        self, table: np.ndarray, out: np.ndarray, state: np.ndarray, since: int, fuel: int
    ) -> bool:
        """Continue a merge of a table's two batches into `out` for `fuel` rows; true when it is done."""
        return merge_step(table, out, state, self.width, since, fuel)

    def insert(self, batch: Batch, index: Index | None = None) -> None:
        """Add a batch. Costs its own size, and a share of the merges that it causes."""
        if len(batch) == 0:
            return
        self.leave_nursery()
        self._inserted = len(batch)
        size = len(batch) + self._paid()
        layers = self._layers
        replaced = 0
        while layers:
            last = layers[-1]
            if isinstance(last, LayerMerge) or len(last.rows) + len(batch) > AT_ONCE:
                break
            batch, index = self.merge(last.rows, batch, self.since), None
            layers.pop()
            replaced += 1
        if len(batch):
            layers.append(self._indexed(Layer(batch, index), len(layers)).narrowed)
        ended = bool(self._merges) and self._work(size)
        if ended or not len(batch) or self._is_unbalanced() or self._is_left:
            while self._balance():
                pass
            self._retable(0)
        elif replaced == 1:
            self._held[-1] = layers[-1]  # type: ignore[assignment]
            layers[-1].register(self.table, self.count - 1, self.key)  # type: ignore[union-attr]
        else:
            self._retable(max(len(layers) - 1, 0))
        self._share()

    def finish(self) -> None:
        """Merge everything into one batch in memory, with epochs advanced to `since`."""
        self._hold(self.merge_all(self.batches(), self.since))

    def select(self, selection: Callable[[np.ndarray], np.ndarray]) -> None:
        """Do as `finish` does, and keep what `selection` leaves of sorted rows.

        It is applied to each batch, and then to what is left of all of them.
        """
        left = [selection(as_matrix(batch)) for batch in self.batches()]
        self._hold(selection(self.merge_all(left, self.since)))

    def _hold(self, batch: np.ndarray) -> None:
        """Hold this batch in memory, and nothing else."""
        self._merges.clear()
        self._layers[:] = [Layer(batch).indexed(self.key).narrowed] if len(batch) else []
        self._rebase([])

    def compact_to(self, frontier: Frontier) -> None:
        """Merge times that `frontier` no longer tells apart, whenever the trace has doubled in size.

        For times of several coordinates, which ordinary merges leave as they are.
        """
        if self.rows >= 2 * self._compacted + AT_ONCE:
            self.compact(frontier)

    def compact(self, frontier: Frontier) -> None:
        """Merge times that `frontier` no longer tells apart, at once."""
        self.finish()
        batches = [layer.matrix for layer in self._layers if isinstance(layer, Layer)]
        advanced = [
            advance_batch(batch, self.width, frontier.array, frontier.order.masks) for batch in batches
        ]
        self._layers[:] = [Layer(batch).indexed(self.key).narrowed for batch in advanced if len(batch)]
        self._retable(0)
        self._share()
        self._compacted = self.rows

    @property
    def _is_left(self) -> bool:
        """Whether compiled code has left neighbours of similar size to be merged here."""
        return self.merges_words and self._numbers[spine.LOOSE] == spine.PINNED

    def _is_unbalanced(self) -> bool:
        """Whether the two newest layers have a similar size."""
        if len(self._layers) < 2:
            return False
        left, right = self._layers[-2:]
        if isinstance(left, LayerMerge) or isinstance(right, LayerMerge):
            return False
        return len(left.rows) <= 2 * len(right.rows)

    def _balance(self) -> bool:
        """Merge, or start to merge, neighbours of similar size, newest first; true if anything changed."""
        layers = self._layers
        changed = False
        for index in range(len(layers) - 1, 0, -1):
            if index >= len(layers):
                continue
            left, right = layers[index - 1], layers[index]
            if isinstance(left, LayerMerge) or isinstance(right, LayerMerge) or len(left) > 2 * len(right):
                continue
            merged = self._begin(left, right)
            layers[index - 1 : index + 1] = [merged] if isinstance(merged, LayerMerge) or len(merged) else []
            changed = True
        return changed

    def _indexed(self, layer: Layer, place: int) -> Layer:
        """The layer with an index, if that pays: a search of so many keys as were inserted last walks through
        a short layer, and another one takes long to index for the changes that it lasts. The first one has
        what was loaded, which later and smaller changes search."""
        is_short = place > 0 and len(layer) <= max(WALK * self._inserted, spine.MOST)
        return layer if is_short else layer.indexed(self.key)

    def _begin(self, left: Layer, right: Layer) -> Layer | LayerMerge:
        if len(left) + len(right) <= max(QUANTUM, min(EFFORT * self._inserted, BESIDE)):
            return Layer(self.merge(left.rows, right.rows, self.since)).narrowed
        if not self._merges:
            self._paid()  # rows that came before there was anything to pay
        under_way = LayerMerge(left, right, self)
        self._merges.append(under_way)
        return under_way

    def _work(self, inserted: int) -> bool:
        """Pay every merge in progress for `inserted` rows; true if one has ended. What they are owed for rows
        of compiled code is paid little by little."""
        ended = False
        for under_way in tuple(self._merges):
            under_way.owed += EFFORT * inserted
            if not under_way.is_due:
                continue
            merged = under_way.go_on(self, max(2 * QUANTUM, EFFORT * self._inserted))
            if merged is not None:
                self._merges.remove(under_way)
                place = next(i for i, layer in enumerate(self._layers) if layer is under_way)
                self._layers[place : place + 1] = [merged] if len(merged) else []
                ended = True
        return ended

    def _rebase(self, base: list[Layer]) -> None:
        """Replace the base, and rewrite the whole table."""
        self.settle()
        self._base = base
        self._held[:] = base
        self.make_room(len(base))
        for line, layer in enumerate(base):
            layer.register(self.table, line, self.key)
        self._retable(0)
        self._share()

    def _retable(self, first: int) -> None:
        """Write the table's lines from layer `first` on. If `first` > 0, no merge is in progress after it."""
        held = self._held
        start = len(self._base) + (first + len(self._merges) if first else 0)
        before = held[start:]
        del held[start:]
        for place in range(first, len(self._layers)):
            layer = self._layers[place]
            if isinstance(layer, LayerMerge):
                held += (layer.left, layer.right)
            else:
                layer = self._layers[place] = self._indexed(layer, place)
                held.append(layer)
        count = self._numbers[spine.COUNT] = len(held)
        self.make_room(count + 1)
        for line, (layer, old) in enumerate(zip_longest(held[start:], before[: count - start]), start):
            if layer is not old:
                layer.register(self.table, line, self.key)
