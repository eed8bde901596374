"""Reads the curl commands of the documents and the demo: what request does this line make?

It knows the options that they use and refuses every other, so that a test that runs a
document needs no curl and still fails on a command that curl would read differently.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None


def parse(command: str, directory: Path) -> Request:
    """The request of one command; `@file` is read from `directory`. ValueError for what is not understood."""
    words = iter(shlex.split(command.replace("\\\n", " ")))
    if next(words) != "curl":
        raise ValueError(f"not a curl command: {command}")
    method, url, headers, data, encoded, in_query = "", "", {}, [], [], False
    for word in words:
        match word:
            case "-s" | "-N":
                pass
            case "-G":
                in_query = True
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                data.append(_literal(next(words)).encode())
            case "--data-binary":
                data.append(_file_or_text(next(words), directory))
            case "--data-urlencode":
                name, _, value = next(words).partition("=")
                encoded.append((name, value))
            case _ if word.startswith("-") or url:
                raise ValueError(f"what is {word!r} in: {command}")
            case _:
                url = word if "://" in word else f"http://{word}"
    if encoded and not in_query:
        raise ValueError(f"--data-urlencode without -G in: {command}")
    if encoded:
        url += ("&" if "?" in url else "?") + urlencode(encoded)
    body = b"&".join(data) if data else None
    return Request(method or ("GET" if body is None else "POST"), url, headers, body)


def _literal(text: str) -> str:
    if text.startswith("@"):
        raise ValueError(f"-d {text} would drop the file's line ends; use --data-binary")
    return text


def _file_or_text(text: str, directory: Path) -> bytes:
    return (directory / text[1:]).read_bytes() if text.startswith("@") else text.encode()
