"""The example over the packages of Debian 12, whole: what is loaded, advisories, cycles made and broken."""

from collections import Counter
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from service.demo import story
from tests.examples.conftest import Example
from tests.examples.oracle import World

DATA = Path(story.__file__).parent
OF_ADVISORIES = ("affected", "distance", "reinstall")


@pytest.fixture(scope="module")
def world() -> World:
    packages = parquet.read_table(DATA / "packages.parquet").to_pylist()
    depends = parquet.read_table(DATA / "depends.parquet")
    mentions = Counter(zip(*(column.to_pylist() for column in depends.columns), strict=True))
    return World({p["name"]: (p["section"], p["size"]) for p in packages}, mentions)


@pytest.fixture(scope="module")
def debian(example: Example) -> Example:
    example.create()
    for table in ("packages", "depends"):
        example.load(table, DATA / f"{table}.parquet")
    return example


def test_the_files_hold_what_the_readme_says(world: World) -> None:
    assert len(world.packages) == 63_666
    assert world.mentions.total() == 287_900
    assert len({name for _, name in world.edges} - world.packages.keys()) == 4_801


def test_advisories_come_and_go(debian: Example, world: World) -> None:
    """The views after each epoch, and every epoch again at the end: a package of many users, one of none, a
    virtual one, two advisories of one package, a package that is nowhere."""
    history = {}
    steps = [
        {"DSA-1": "libwebp7"},
        {"DSA-2": "libc6", "DSA-3": "0ad", "DSA-4": "no-such-package"},
        {"DSA-2": None, "DSA-5": "libwebp7", "DSA-6": "debconf-2.0"},
        {"DSA-1": None},
        {"DSA-3": None, "DSA-4": None, "DSA-5": None, "DSA-6": None},
    ]
    for step in steps:
        epoch = debian.apply(advisories=[change(world, id, package) for id, package in step.items()])
        history[epoch] = world.answers(OF_ADVISORIES)
        assert debian.answers(OF_ADVISORIES) == history[epoch]
    assert not history[epoch]["affected"]
    for epoch, expected in history.items():
        assert debian.answers(OF_ADVISORIES, epoch) == expected


def change(world: World, id: str, package: str | None) -> dict:
    if package is None:
        del world.advisories[id]
        return {"delete": {"id": id}}
    world.advisories[id] = package
    return {"insert": {"id": id, "package": package, "severity": "high"}}


def test_cycles_are_made_and_broken(debian: Example, world: World) -> None:
    cycles = world.cycles()
    assert len(cycles) == 147
    assert dict(debian.rows("cycles")) == cycles
    knot = next(edge for edge in sorted(world.edges) if set(edge) <= cycles.keys() and edge[0] != edge[1])
    ring = [("libwebp7", "gimp"), ("0ad-data", "0ad"), ("bash", "bash")]
    inserted = [mention(*edge) for edge in ring]
    deleted = [m for m in world.mentions.elements() if m[:2] == knot]
    world.mentions.update(inserted)
    world.mentions.subtract(deleted)
    debian.apply(depends=[*(row("insert", m) for m in inserted), *(row("delete", m) for m in deleted)])
    assert dict(debian.rows("cycles")) == world.cycles() != cycles
    world.mentions.subtract(inserted)
    world.mentions.update(deleted)
    debian.apply(depends=[*(row("delete", m) for m in inserted), *(row("insert", m) for m in deleted)])
    assert dict(debian.rows("cycles")) == world.cycles() == cycles


def mention(package: str, depends_on: str) -> tuple[str, str, str, int]:
    return package, depends_on, "Depends", 0


def row(operation: str, mention: tuple[str, str, str, int]) -> dict:
    return {operation: dict(zip(("package", "depends_on", "kind", "alt"), mention, strict=True))}


def test_an_edge_goes_with_its_last_mention(debian: Example, world: World) -> None:
    twice = next(m for m, count in sorted(world.mentions.items()) if count == 2)
    package, depends_on, _, _ = twice
    others = [m for m in world.mentions if m[:2] == twice[:2] and m != twice]
    assert not others
    for left in (1, 0):
        debian.apply(depends=[row("delete", twice)])
        assert ((package, depends_on) in debian.rows("edges")) == (left > 0)
    debian.apply(depends=[row("insert", twice)] * 2)
