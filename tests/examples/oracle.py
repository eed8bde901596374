"""The example's views in plain Python, from scratch: breadth-first search, sums and Tarjan's algorithm."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Edge = tuple[str, str]


@dataclass(frozen=True)
class World:
    """What the tables hold: packages (name -> section, size), mentions as a bag, advisories (id -> name)."""

    packages: dict[str, tuple[str, int]] = field(default_factory=dict)
    mentions: Counter[tuple[str, str, str, int]] = field(default_factory=Counter)
    advisories: dict[str, str] = field(default_factory=dict)

    @property
    def edges(self) -> set[Edge]:
        return {
            (package, depends_on) for (package, depends_on, _, _), count in self.mentions.items() if count
        }

    def answers(self, views: Iterable[str]) -> dict[str, object]:
        users = _users(self.edges)
        known = {
            "affected": lambda: self._affected(users),
            "distance": lambda: self._distance(users),
            "reinstall": lambda: self._reinstall(self._distance(users)),
            "cycles": self.cycles,
        }
        return {view: known[view]() for view in views}

    def _affected(self, users: Mapping[str, list[str]]) -> set[tuple[str, str]]:
        return {(id, name) for id, package in self.advisories.items() for name in hops([package], users)}

    def _distance(self, users: Mapping[str, list[str]]) -> dict[str, int]:
        return hops(self.advisories.values(), users)

    def _reinstall(self, distance: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """Section -> number and installed size of its affected packages."""
        sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for name in distance:
            if name in self.packages:
                section, size = self.packages[name]
                sums[section][0] += 1
                sums[section][1] += size
        return {section: (count, size) for section, (count, size) in sums.items()}

    def cycles(self) -> dict[str, str]:
        """Package on a cycle -> least package of its strongly connected component."""
        edges = self.edges
        successors: defaultdict[str, list[str]] = defaultdict(list)
        for package, depends_on in edges:
            successors[package].append(depends_on)
        loops = [part for part in components(successors) if len(part) > 1 or (part[0], part[0]) in edges]
        return {name: min(part) for part in loops for name in part}


def _users(edges: Iterable[Edge]) -> Mapping[str, list[str]]:
    users: defaultdict[str, list[str]] = defaultdict(list)
    for package, depends_on in edges:
        users[depends_on].append(package)
    return users


def hops(roots: Iterable[str], successors: Mapping[str, list[str]]) -> dict[str, int]:
    """Everything that is reached from `roots`, the roots too, with the fewest steps to it."""
    found = dict.fromkeys(roots, 0)
    queue = list(found)
    for name in queue:
        for successor in successors.get(name, ()):
            if successor not in found:
                found[successor] = found[name] + 1
                queue.append(successor)
    return found


def components(successors: Mapping[str, list[str]]) -> list[list[str]]:
    """The strongly connected components, by Tarjan's algorithm without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_names: dict[str, None] = {}
    found = []
    for root in list(successors):
        path = [] if root in number else [(root, iter(successors.get(root, ())))]
        if path:
            number[root] = low[root] = len(number)
            open_names[root] = None
        while path:
            name, rest = path[-1]
            for successor in rest:
                if successor not in number:
                    number[successor] = low[successor] = len(number)
                    open_names[successor] = None
                    path.append((successor, iter(successors.get(successor, ()))))
                    break
                if successor in open_names:
                    low[name] = min(low[name], number[successor])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[name])
                if low[name] == number[name]:
                    found.append(_close(name, open_names))
    return found


def _close(root: str, open_names: dict[str, None]) -> list[str]:
    """Takes the component of `root` off the end of the open names."""
    part = []
    while not part or part[-1] != root:
        part.append(open_names.popitem()[0])
    return part
