"""A view's plan: as text, and as a picture where a notebook draws Mermaid."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """`stage` is `logical`, `optimized`, `dataflow`, `supersteps` or `analyze`."""

    stage: str
    text: str
    mermaid: str

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """JupyterLab draws the picture; whatever does not know Mermaid shows the text."""
        return {
            "text/vnd.mermaid": self.mermaid,
            "text/html": f"<pre>{html.escape(self.text)}</pre>",
            "text/plain": self.text,
        }
