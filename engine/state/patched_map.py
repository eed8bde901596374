"""A map that never changes, and is cheap to replace by one that differs in a few entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

V = TypeVar("V")


class PatchedMap(Mapping[str, V]):
    """A dictionary, and a few entries that replace some of its own.

    Maps made from each other share the dictionary until the other entries, or the patches, are as many as
    the root of its size. So `patched` copies about that many entries, on average, and what an entry has
    replaced is not kept alive for longer.
    """

    __slots__ = ("_base", "_patch", "_patches")

    def __init__(self, entries: Mapping[str, V]) -> None:
        self._base: Mapping[str, V] = entries
        self._patch: dict[str, V | None] = {}
        self._patches = 0

    def patched(self, changes: Mapping[str, V | None]) -> PatchedMap[V]:
        """The map with the given entries replaced, and removed where they are None."""
        patch = {**self._patch, **changes}
        if max(len(patch), self._patches) ** 2 > len(self._base):
            whole = {**self._base, **patch}
            if None in patch.values():
                whole = {name: value for name, value in whole.items() if value is not None}
            return PatchedMap(whole)  # type: ignore[arg-type]
        patched = PatchedMap(self._base)
        patched._patch, patched._patches = patch, self._patches + 1
        return patched

    def __getitem__(self, name: str) -> V:
        if name not in self._patch:
            return self._base[name]
        value = self._patch[name]
        if value is None:
            raise KeyError(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of a name, or `default`; Mapping's own takes a call more."""
        found = self._patch[name] if name in self._patch else self._base.get(name)
        return default if found is None else found

    def __iter__(self) -> Iterator[str]:
        for name in {**self._base, **self._patch}:
            if name in self:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)
