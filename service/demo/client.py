"""One HTTP call, as the curl command that a user would type and as the request that it makes.

`CurlCall` is the request; `CurlCall.command` is the very same request for a shell. Only the
standard library is used, so that neither curl nor any package is needed to run it.
"""

from __future__ import annotations

import json
import shlex
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus, urlencode

TIMEOUT_SECONDS = 600.0
WIDTH = 110


def quoted(text: str) -> str:
    """`text` as one word of a shell, in the double quotes that people prefer where it has single ones."""
    if "'" in text and not set(text) & set('"$`\\!\n'):
        return f'"{text}"'
    return shlex.quote(text)


@dataclass(frozen=True)
class CurlCall:
    """A request. `body` is a JSON value, or the path of a file to send as it is; `query` is the URL's."""

    method: str
    url: str
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The curl command: on one line if it fits, else an option a line."""
        needs_encoding = quote_plus("".join(self.query.values()), safe="") != "".join(self.query.values())
        options = ["-G"] if needs_encoding else []
        if self.method != ("GET" if self.body is None else "POST"):
            options.append(f"-X {self.method}")
        parts = [" ".join(["curl -s", *options, quoted(self.url if needs_encoding else self._target)])]
        if needs_encoding:
            parts += [f"--data-urlencode {quoted(f'{name}={value}')}" for name, value in self.query.items()]
        parts += [f"-H {quoted(f'{name}: {value}')}" for name, value in self._headers.items()]
        if isinstance(self.body, Path):
            parts.append(f"--data-binary {quoted(f'@{self.body}')}")
        elif self.body is not None:
            parts.append(f"-d {quoted(self._text)}")
        line = " ".join(parts)
        return line if len(line) <= WIDTH else " \\\n  ".join(parts)

    def send(self) -> CurlAnswer:
        """Makes the request. An answer of any status is an answer; OSError if there is none."""
        request = urllib.request.Request(self._target, self._data, dict(self._headers), method=self.method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return CurlAnswer(response.status, response.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return CurlAnswer(error.code, error.read().decode())

    @property
    def _target(self) -> str:
        return f"{self.url}?{urlencode(self.query)}" if self.query else self.url

    @property
    def _headers(self) -> Mapping[str, str]:
        if self.body is None or isinstance(self.body, Path):
            return self.headers
        return {"Content-Type": "application/json", **self.headers}

    @property
    def _data(self) -> bytes | None:
        if self.body is None:
            return None
        return self.body.read_bytes() if isinstance(self.body, Path) else self._text.encode()

    @property
    def _text(self) -> str:
        """The JSON body, on more lines than one if it is long."""
        text = json.dumps(self.body)
        return text if len(text) <= WIDTH else json.dumps(self.body, indent=2)


@dataclass(frozen=True)
class CurlAnswer:
    status: int
    text: str

    @property
    def ok(self) -> bool:
        return self.status < 400

    @property
    def json(self) -> dict:
        return json.loads(self.text)

    def excerpt(self, lines: int = 6) -> str:
        """The answer to look at: a list's items a line each, long lines and long lists cut short."""
        is_object = self.text.startswith("{") and self.text.count("\n") <= 1
        shown = list(_lines(self.json)) if is_object else self.text.splitlines()
        cut = [line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in shown]
        return "\n".join(
            cut if len(cut) <= lines * 2 else [*cut[:lines], f"... ({len(cut) - lines:,} lines more)"]
        )


def _lines(value: dict, indent: str = "") -> Iterator[str]:
    """`value` as JSON: a line for every member, and for every item of a list of rows or results."""
    last = len(value) - 1
    for number, (name, member) in enumerate(value.items()):
        start, end = ("{" if number == 0 else " "), ("}" if number == last else ",")
        if name not in ("rows", "results", "differences", "epochs") or not (
            member and isinstance(member, list)
        ):
            yield f"{indent}{start}{json.dumps(name)}: {json.dumps(member)}{end}"
            continue
        yield f"{indent}{start}{json.dumps(name)}: ["
        for place, item in enumerate(member):
            *most, rest = (
                _lines(item, f"{indent}   ") if name == "results" else [f"{indent}   {json.dumps(item)}"]
            )
            yield from most
            yield rest + (f"]{end}" if place == len(member) - 1 else ",")
