"""views.sql over small graphs that change at random: after every epoch, what plain Python finds."""

import random
from collections import Counter

from tests.examples.conftest import Example
from tests.examples.oracle import World
from tests.seeds import SEED

NAMES = [f"p{n}" for n in range(9)]
EPOCHS = 60
VIEWS = ("affected", "distance", "reinstall", "cycles")


def test_views_are_right_after_every_epoch_and_stay_readable(example: Example) -> None:
    rng = random.Random(SEED)
    example.create()
    world = World()
    packages = [
        {"name": n, "version": "1", "section": f"s{i % 3}", "size": i * 10, "source": n}
        for i, n in enumerate(NAMES)
    ]
    example.apply(packages=[{"insert": package} for package in packages[1:]])
    world.packages.update({p["name"]: (p["section"], p["size"]) for p in packages[1:]})
    history = {}
    for _ in range(EPOCHS):
        changes = [change_of_mention(world, rng) for _ in range(rng.choice([1, 1, 2, 6]))]
        epoch = example.apply(depends=changes, advisories=[change_of_advisory(world, rng)])
        history[epoch] = world.answers(VIEWS)
        assert example.answers(VIEWS) == history[epoch]
    for epoch in rng.sample(sorted(history), 12):
        assert example.answers(VIEWS, epoch) == history[epoch]
    assert any(found["cycles"] for found in history.values())


def change_of_mention(world: World, rng: random.Random) -> dict:
    """A mention more or, as often once there are some, one less; `world` takes it."""
    if rng.random() < len(+world.mentions) / 24:
        mention = rng.choice(sorted((+world.mentions).elements()))
        world.mentions[mention] -= 1
        operation = "delete"
    else:
        mention = (rng.choice(NAMES), rng.choice(NAMES), rng.choice(["Depends", "Pre-Depends"]), 0)
        world.mentions[mention] += 1
        operation = "insert"
    return {operation: dict(zip(("package", "depends_on", "kind", "alt"), mention, strict=True))}


def change_of_advisory(world: World, rng: random.Random) -> dict:
    id = f"A{rng.randrange(3)}"
    if id in world.advisories:
        del world.advisories[id]
        return {"delete": {"id": id}}
    world.advisories[id] = rng.choice(NAMES)
    return {"insert": {"id": id, "package": world.advisories[id], "severity": "low"}}


def test_the_oracle_finds_the_cycles_that_walks_find() -> None:
    rng = random.Random(SEED)
    for _ in range(200):
        edges = {(rng.choice(NAMES), rng.choice(NAMES)) for _ in range(rng.randrange(14))}
        walks = set(edges)
        while more := {(a, d) for a, b in walks for c, d in edges if b == c} - walks:
            walks |= more
        on_cycle = {a for a, b in walks if a == b}
        expected = {a: min(b for b in on_cycle if {(a, b), (b, a)} <= walks) for a in on_cycle}
        assert World(mentions=Counter((*edge, "Depends", 0) for edge in edges)).cycles() == expected
