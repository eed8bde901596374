"""Conway's game of life on a board without an edge, whose first generation may change."""

from __future__ import annotations

from collections import Counter

from engine.api import Collection, Dataflow, Output

AROUND = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]


def generations(cells: Collection, last: int) -> Collection:
    """From the living cells (x, y) to those of generations 0 to `last`, as (generation, x, y).

    A cell counts itself once and each living neighbour twice. It lives in the next generation
    when that makes 5, alive with two neighbours, or 6 or 7, three neighbours, dead or alive.
    """
    first = cells.distinct().map(lambda cell: {"generation": 0, "x": cell.x, "y": cell.y})

    def advance(boards: Collection) -> Collection:
        here = boards.map(lambda cell: {"generation": cell.generation + 1, "x": cell.x, "y": cell.y})
        around = here.flat_map(
            lambda cell: [
                {"generation": cell.generation, "x": cell.x + i, "y": cell.y + j} for i, j in AROUND
            ]
        )
        counted = here.concat(around, around).count(("generation", "x", "y"))
        alive = counted.filter(lambda cell: (cell.count >= 5) & (cell.count <= 7))
        return first.concat(alive.select("generation", "x", "y"))

    return first.iterate(advance, rounds=last)


def main() -> None:
    flow = Dataflow()
    cells = flow.input("cells", x=int, y=int)
    boards = generations(cells, last=4).output()
    for cell in ((1, 0), (2, 1), (0, 2), (1, 2), (2, 2)):
        cells.insert(cell)
    flow.advance()
    print("epoch 0: a glider, and four generations later")
    draw(boards)
    cells.insert((3, 1))
    flow.advance()
    changes = Counter(generation for generation, _, _ in boards.difference(1))
    counts = ", ".join(str(changes[generation]) for generation in range(5))
    print(f"epoch 1: with one cell more, {counts} cells of generations 0 to 4 change")
    draw(boards)
    cells.remove((3, 1))
    flow.advance()
    print("epoch 2: without it, as before:", boards.rows() == boards.at(0))


def draw(boards: Output) -> None:
    """The boards of all generations, side by side."""
    alive = set(boards.rows())
    last = max(generation for generation, _, _ in alive)
    for y in range(6):
        print("   ", "   ".join(_line(alive, generation, y) for generation in range(last + 1)))


def _line(alive: set[tuple[int, int, int]], generation: int, y: int) -> str:
    return "".join("#" if (generation, x, y) in alive else "." for x in range(6))


if __name__ == "__main__":
    main()
