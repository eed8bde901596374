"""The components of names that refer to each other."""

from __future__ import annotations

from collections.abc import Mapping


def components(uses: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """The strongly connected components of the graph of names: used names first, otherwise in the given
    order."""
    order = list(uses)
    reach = {name: _reachable(name, uses) for name in order}
    groups: list[list[str]] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        if name in done:
            return
        group = [other for other in order if other == name or (other in reach[name] and name in reach[other])]
        done.update(group)
        for member in group:
            for used in order:
                if used in uses[member]:
                    visit(used)
        groups.append(group)

    for name in order:
        visit(name)
    return groups


def _reachable(name: str, uses: Mapping[str, frozenset[str]]) -> frozenset[str]:
    found: set[str] = set()
    stack = [name]
    while stack:
        for used in uses.get(stack.pop(), frozenset()):
            if used in uses and used not in found:
                found.add(used)
                stack.append(used)
    return frozenset(found)
