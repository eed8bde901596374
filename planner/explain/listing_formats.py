"""Listings as text, JSON or a mermaid diagram, byte for byte the same for equal plans."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict

from planner.explain.listing import Listing, ListingStep


def as_text(listing: Listing) -> str:
    """The steps in order, `r0 := ...`, with their details below; steps inside a loop are indented."""
    lines: list[str] = []
    for step in listing.steps:
        margin = "  " * step.depth
        columns = ", ".join(f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in step.columns)
        inputs = f" {', '.join(step.inputs)}" if step.inputs else ""
        gives = f" → ({columns})" if columns else ""
        lines.append(f"{margin}{step.name} := {step.operator}{inputs}{gives}")
        lines += [f"{margin}    {detail}" for detail in (*step.details, *_measured(step))]
    lines.append(f"return {listing.result}")
    return "\n".join(lines) + "\n"


def _measured(step: ListingStep) -> list[str]:
    """The figures of a step as a line, if it has any."""
    return [", ".join(f"{name} {value}" for name, value in step.figures.items())] if step.figures else []


def as_json(listing: Listing) -> str:
    document = {
        "stage": listing.stage,
        "nodes": [_node(step) for step in listing.steps],
        "result": listing.result,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _node(step: ListingStep) -> dict[str, object]:
    node: dict[str, object] = {
        "id": step.name,
        "operator": step.operator,
        "details": list(step.details),
        "inputs": list(step.inputs),
        "depth": step.depth,
        "columns": [{"name": c.name, "type": str(c.type), "nullable": c.nullable} for c in step.columns],
    }
    if step.spans:
        node["spans"] = [asdict(span) for span in step.spans]
    return node | ({"figures": dict(step.figures)} if step.figures else {})


def mermaid(listing: Listing) -> str:
    """A flowchart from the sources upwards."""
    lines = ["flowchart BT"]
    for step in listing.steps:
        label = "<br/>".join(
            _escaped(part) for part in (f"{step.name} := {step.operator}", *step.details, *_measured(step))
        )
        lines.append(f'  {step.name}["{label}"]')
        lines += [f"  {name} --> {step.name}" for name in step.inputs]
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    for character, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        label = label.replace(character, entity)
    return label


FORMATS: Mapping[str, Callable[[Listing], str]] = {"text": as_text, "json": as_json, "mermaid": mermaid}
