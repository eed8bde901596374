"""Text of the service on a terminal: control characters, which a terminal would obey, are escaped."""


def harmless(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
