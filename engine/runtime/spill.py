"""Spilling: an engine's state goes from memory to files, and the files take its place.

  capture   on the writer's thread, between two advances: collects the current arrays, which nobody changes
  write     on any thread: writes what is only in memory; a manifest names all files
  install   on the writer's thread: mapped files replace the arrays, unless a trace was rebuilt meanwhile

The manifest describes the moment of the capture, whatever has happened since. If a trace was rebuilt
meanwhile (a loop was rebuilt, or history forgotten), its files are not installed; the next spill writes its
new batches.

A spill may collect the dictionary's texts (`engine.state.collecting`): it marks the words of all captured
rows, and writes the texts that stay to a file that replaces all others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from engine.operators.arrangement import Arrangement
from engine.operators.operator import Operator
from engine.plan.fingerprint import fingerprint
from engine.runtime.ends import history_key
from engine.runtime.kept import kept_states
from engine.runtime.rewriting import GROWTH, Captured, Rewritten, opened, rewrite
from engine.state.collecting import TextCollection
from engine.state.dictionary import Dictionary, Lease
from engine.state.store.directory import StateDirectory, Writing
from engine.state.store.files import TextFile
from engine.state.store.manifest import Manifest


@dataclass(frozen=True)
class TextPart:
    """A file of dictionary entries: those after the file before it, up to entry number `last`."""

    file: TextFile
    last: int


@dataclass(frozen=True, eq=False)
class Capture:
    """An engine's state at one moment: the kept states, and the dictionary's first `entries` entries, of
    which `texts` are in files already.

    With a `collection`, only those entries are written that it keeps. Without one, a `lease` keeps them all.
    """

    upper: int
    states: tuple[Captured, ...]
    dictionary: Dictionary
    entries: int
    texts: tuple[TextPart, ...]
    collection: TextCollection | None = None
    lease: Lease | None = None

    def write(self, directory: StateDirectory, shards: int) -> Spill:
        """Write everything durably; on an error, leave no files and raise."""
        with directory.writing() as writing:
            rewritten = tuple(rewrite(captured, directory, writing, shards) for captured in self.states)
            texts = self._write_texts(writing) if self.collection is None else self._collect(writing)
        manifest = Manifest(
            self.upper,
            {it.captured.fingerprint: it.files for it in rewritten},
            {it.captured.fingerprint: it.captured.since for it in rewritten},
            tuple(part.file for part in texts),
        )
        return Spill(self, manifest, rewritten, texts)

    def release(self) -> None:
        """Tell the traces that this capture will not be installed."""
        for captured in self.states:
            captured.trace.release()
            captured.state.reset()

    def _collect(self, writing: Writing) -> tuple[TextPart, ...]:
        """One file of the texts that the captured rows refer to; none if there are no texts."""
        collection = self.collection
        assert collection is not None
        for captured in self.states:
            for layer in captured.layers:
                for words in captured.trace.words(layer):
                    collection.mark(words)
        count = collection.copy()
        return (TextPart(writing.write_texts(*collection.texts()), count),) if count else ()

    def _write_texts(self, writing: Writing) -> tuple[TextPart, ...]:
        """The dictionary's files: entries that are in no file are written, together with the newest files
        unless those are much larger.
        """
        kept = list(self.texts)
        first = kept[-1].last if kept else 0
        if first == self.entries:
            return self.texts
        while kept and first - _first(kept) <= GROWTH * (self.entries - first):
            first = _first(kept)
            kept.pop()
        file = writing.write_texts(*self.dictionary.slice(first, self.entries))
        return (*kept, TextPart(file, self.entries))


@dataclass(frozen=True, eq=False)
class Spill:
    """A capture that was written to files."""

    capture: Capture
    manifest: Manifest
    rewritten: tuple[Rewritten, ...]
    texts: tuple[TextPart, ...]

    def install(self) -> list[Arrangement]:
        """Let the files replace the captured arrays where the trace still has them; returns the states
        changed.
        """
        return [it.captured.state for it in self.rewritten if it.install()]


@dataclass(frozen=True, eq=False)
class SavedState:
    """A saved state that an engine can start from: the files of `manifest`, in `directory`."""

    manifest: Manifest
    directory: StateDirectory

    def has_source(self, name: str) -> bool:
        """Whether the state has the rows of a source."""
        return fingerprint(history_key(name)) in self.manifest.arrangements

    def absorb_texts(self, dictionary: Dictionary) -> tuple[TextPart, ...]:
        """Add all saved texts to a dictionary; returns the files, with the numbers of their last entries."""
        parts: list[TextPart] = []
        for file in self.manifest.texts:
            dictionary.absorb(*self.directory.read_texts(file))
            parts.append(TextPart(file, len(dictionary)))
        return tuple(parts)

    def map(self, operators: Iterable[tuple[Hashable, Operator]]) -> bool:
        """Map the saved state of operators, given with their keys.

        Returns false, and changes nothing, if the state of an operator is not saved. Raises StoreError for a
        damaged file.
        """
        states = list(kept_states(operators))
        saved = self.manifest.arrangements
        if any(name not in saved for name, _ in states):
            return False
        for name, state in states:
            trace = state.trace
            trace.map([opened(self.directory, trace, file) for file in saved[name]])
            trace.since = self.manifest.since[name]
            state.reset()
        return True


def _first(parts: list[TextPart]) -> int:
    """The number of entries before the last of these files."""
    return parts[-2].last if len(parts) > 1 else 0
