"""Text of the service on a terminal: control characters, which a terminal would obey, are escaped.

So are characters that change the direction of text. JSON stays the same value: its escapes are JSON's own.
"""

import json
from typing import Any


def harmless(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Prints a line in which texts of the service stand."""
    print(harmless(text))


def json_line(value: Any) -> str:
    """A value as a line of JSON."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return text + "\n"
