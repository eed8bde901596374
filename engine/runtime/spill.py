"""Spilling: an engine's state goes from memory to files, and the files take its place.

    capture   on the writer's thread, between two advances: what there is, as arrays that nobody changes
    write     on any thread: what is in memory alone goes to files, and a manifest says which there are
    install   on the writer's thread: files stand for what they hold, where it is still there

The manifest is that of the moment of the capture, whatever has happened since. Where a trace has
been written anew meanwhile (a loop was rebuilt, history forgotten), its files are not installed; the
next spill writes what is there then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from engine.operators.operator import Operator
from engine.plan.fingerprint import fingerprint
from engine.runtime.ends import history_key
from engine.runtime.kept import Kept, kept_states
from engine.runtime.rewriting import GROWTH, Captured, Rewritten, opened, rewrite
from engine.state.dictionary import Dictionary
from engine.state.store.directory import StateDirectory, Writing
from engine.state.store.files import TextFile
from engine.state.store.manifest import Manifest


@dataclass(frozen=True)
class TextPart:
    """A file of the dictionary's entries from the end of the file before it up to number `last`."""

    file: TextFile
    last: int


@dataclass(frozen=True, eq=False)
class Capture:
    """An engine at one moment: what is kept, and the dictionary's first `entries` entries, as far as `texts`
    in files."""

    upper: int
    states: tuple[Captured, ...]
    dictionary: Dictionary
    entries: int
    texts: tuple[TextPart, ...]

    def write(self, directory: StateDirectory, shards: int) -> Spill:
        """Make all of it durable, or leave nothing and raise."""
        with directory.writing() as writing:
            rewritten = tuple(rewrite(captured, directory, writing, shards) for captured in self.states)
            texts = self._write_texts(writing)
        manifest = Manifest(
            self.upper,
            {it.captured.fingerprint: it.files for it in rewritten},
            {it.captured.fingerprint: it.captured.since for it in rewritten},
            tuple(part.file for part in texts),
        )
        return Spill(self, manifest, rewritten, texts)

    def release(self) -> None:
        """Nothing of it is going to be installed."""
        for captured in self.states:
            captured.trace.release()
            captured.state.reset()

    def _write_texts(self, writing: Writing) -> tuple[TextPart, ...]:
        """The dictionary's files, the newest of which are written anew with the entries that are in none."""
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
    """What was captured, in files."""

    capture: Capture
    manifest: Manifest
    rewritten: tuple[Rewritten, ...]
    texts: tuple[TextPart, ...]

    def install(self) -> list[Kept]:
        """Let the files stand for what they hold, where it is still there; returns what has changed."""
        return [it.captured.state for it in self.rewritten if it.install()]


@dataclass(frozen=True, eq=False)
class SavedState:
    """A state that an engine begins with: the files of `manifest`, in `directory`."""

    manifest: Manifest
    directory: StateDirectory

    def has_source(self, name: str) -> bool:
        """Whether the rows of a source are saved."""
        return fingerprint(history_key(name)) in self.manifest.arrangements

    def absorb_texts(self, dictionary: Dictionary) -> tuple[TextPart, ...]:
        """Make entries of all texts."""
        parts: list[TextPart] = []
        for file in self.manifest.texts:
            dictionary.absorb(*self.directory.read_texts(file))
            parts.append(TextPart(file, len(dictionary)))
        return tuple(parts)

    def map(self, operators: Iterable[tuple[Hashable, Operator]]) -> bool:
        """Let operators, given with their keys, hold what is saved of them; false, and nothing, where that
        is not all that they keep. StoreError names a damaged file."""
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
    """The number of the first entry in the last of these files."""
    return parts[-2].last if len(parts) > 1 else 0
