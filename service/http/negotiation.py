"""The format of an answer: what `?format=` names, or else what the Accept header prefers."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request

from service.decoding.parsing import ARROW, CSV, JSON, NDJSON, PARQUET
from service.errors import NotAcceptable

EVENTS = "text/event-stream"
FORMATS: Mapping[str, str] = {
    "json": JSON,
    "ndjson": NDJSON,
    "csv": CSV,
    "arrow": ARROW,
    "parquet": PARQUET,
    "sse": EVENTS,
}
"""Media types by their names in `?format=`. A route's parameter lists those that the route offers."""


def media_type_for(request: Request, format: str | None, offered: tuple[str, ...]) -> str:
    """The offered media type that the request asks for. Raises NotAcceptable if it accepts none."""
    return FORMATS[format] if format is not None else negotiate(request.headers.get("accept"), offered)


def negotiate(accept: str | None, offered: tuple[str, ...]) -> str:
    """The offered media type that an Accept header prefers. Raises NotAcceptable if it accepts none."""
    if not accept:
        return offered[0]
    for wanted in preferred(accept):
        for media_type in offered:
            if _covers(wanted, media_type):
                return media_type
    raise NotAcceptable(f"no format here satisfies Accept: {accept}", f"use one of {', '.join(offered)}")


def accepts(accept: str | None, media_type: str) -> bool:
    """Whether an Accept header takes a media type."""
    return not accept or any(_covers(wanted, media_type) for wanted in preferred(accept))


def _covers(wanted: str, media_type: str) -> bool:
    return wanted in (media_type, f"{media_type.partition('/')[0]}/*", "*/*")


def preferred(header: str) -> list[str]:
    """The values of a header like Accept, in lower case: the most wanted first, none of quality 0."""
    wanted = [(-quality, value) for value, quality in qualities(header).items() if quality > 0]
    return [value for _, value in sorted(wanted, key=lambda wish: wish[0])]


def qualities(header: str) -> dict[str, float]:
    """How much a header like Accept wants each value, in the header's order."""
    found: dict[str, float] = {}
    for wish in header.split(","):
        value, *parameters = (part.strip().lower() for part in wish.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            found.setdefault(value, float(quality))
        except ValueError:
            continue
    return found
