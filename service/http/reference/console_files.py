"""The console: the static files that `make console` builds, and the headers under which a browser gets them.

The files below `assets/` have their content's hash in their names, so a browser may keep them for ever. The
page itself is asked for anew each time. Scripts and styles have a copy in Brotli, for those who take it.
Everything comes from the service: the policy forbids a browser to run or load anything else.
"""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from service.errors import NotFound
from service.http.negotiation import qualities

BUILT = Path(__file__).resolve().parents[2] / "console"
PAGE = "index.html"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
"""Files of other kinds are not served."""
_OWN = "digests.txt"
"""A file for the build's test."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_BROTLI = ".br"
_FOR_EVER = "public, max-age=31536000, immutable"


def console_file(name: str, accept_encoding: str = "") -> Response:
    """A file of the build by its path, in Brotli if the build has it so and the header accepts it.

    Raises NotFound if the build has none of that name.
    """
    path = _served().get(name)
    if path is None:
        raise NotFound(f"the console has no file {name[:100]!r}", "reload the page: the console may be newer")
    caching = _FOR_EVER if name.startswith("assets/") else "no-cache"
    headers = _SAFE | {"Cache-Control": caching}
    small = path.with_name(path.name + _BROTLI)
    if small.exists():
        headers["Vary"] = "Accept-Encoding"
        if qualities(accept_encoding).get("br", 0.0) > 0:
            headers["Content-Encoding"] = "br"
            return Response(small.read_bytes(), headers=headers, media_type=MEDIA_TYPES[path.suffix])
    return Response(path.read_bytes(), headers=headers, media_type=MEDIA_TYPES[path.suffix])


def _served() -> dict[str, Path]:
    """The files of the build by their paths: a request finds these and no others."""
    files = (path for path in sorted(BUILT.rglob("*")) if path.suffix in MEDIA_TYPES and path.name != _OWN)
    return {path.relative_to(BUILT).as_posix(): path for path in files}
