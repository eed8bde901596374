"""Plans as trees in colour, made of the text in which the service lists them, `r1 := filter r0` a line.

The root is what the plan returns, and an operator's inputs hang below it. One that several read is drawn
once; elsewhere its name stands for it. A text of any other form, a recursion's for instance, stays a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from freshet.command.terminal_text import harmless

_STEP = re.compile(r"(\w+) := (.*)")
_END = re.compile(r"return (\w+)")
_TIME = re.compile(r"\bmilliseconds ([\d.]+)")
_STYLES = (
    (r"'(?:[^']|'')*'", "green"),
    (r"(?<![\w.#])\d[\d,]*(?:\.\d+)?(?!\w)", "cyan"),
    (r"\b(?:TEXT|BOOLEAN|SMALLINT|INTEGER|BIGINT|NUMERIC|REAL|DOUBLE PRECISION|DATE|TIME|JSON)\b", "magenta"),
)


@dataclass
class PlanStep:
    """An operator: its line, the lines below it, and the steps that it reads."""

    name: str
    text: str
    details: list[str] = field(default_factory=list)
    inputs: Sequence[str] = ()

    @property
    def milliseconds(self) -> float:
        found = _TIME.search(" ".join(self.details))
        return float(found[1]) if found else 0.0


def plan_tree(text: str) -> RenderableType:
    """The tree of a plan; its text in colour if it is no tree."""
    text = harmless(text)
    read = plan_steps(text)
    if read is None:
        return _coloured(text)
    root, steps = read
    whole = sum(step.milliseconds for step in steps.values())
    tree = Tree(_label(steps[root], whole), guide_style="dim")
    drawn = {root}
    waiting = [(tree, name) for name in reversed(steps[root].inputs)]
    while waiting:
        above, name = waiting.pop()
        if name in drawn:
            above.add(Text(f"{name}, as above", "dim"))
            continue
        drawn.add(name)
        branch = above.add(_label(steps[name], whole))
        waiting += [(branch, inner) for inner in reversed(steps[name].inputs)]
    return tree


def plan_steps(text: str) -> tuple[str, Mapping[str, PlanStep]] | None:
    """The name of what the plan returns, and its steps by name; None if the text has another form."""
    steps: dict[str, PlanStep] = {}
    root = None
    for line in text.rstrip("\n").split("\n"):
        if root is not None:
            return None
        if match := _STEP.fullmatch(line):
            head = match[2].partition(" → ")[0]
            inputs = [word for word in re.findall(r"\w+", head) if word in steps]
            steps[match[1]] = last = PlanStep(match[1], match[2], inputs=inputs)
        elif match := _END.fullmatch(line):
            root = match[1]
        elif line.startswith("    ") and steps:
            last.details.append(line.strip())
        else:
            return None
    return None if root not in steps else (root, steps)


def _label(step: PlanStep, whole: float) -> Text:
    operator, _, rest = step.text.partition(" ")
    label = Text.assemble((f"{step.name} ", "dim"), (operator, "bold"), " ", _coloured(rest))
    if whole:
        share = step.milliseconds / whole
        label.append(f"  {share:.0%} of the time", "bold red" if share >= 0.5 else "yellow")
    for detail in step.details:
        label.append("\n  ").append_text(_coloured(detail))
    return label


def _coloured(text: str) -> Text:
    shown = Text(text)
    for pattern, style in _STYLES:
        shown.highlight_regex(pattern, style)
    return shown
