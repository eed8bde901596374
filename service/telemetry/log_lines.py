"""Lines of the log: text for people, or JSON for programs. Both have the id of the request, if one is served.

Secrets of keys are cut out of every line, wherever they come from.
"""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from service.concealing import on_one_line, without_secrets
from service.telemetry.exchange import HttpExchange, current

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
requests = logging.getLogger("freshet.requests")


class TextLines(logging.Formatter):
    """The time, the level, the logger and the message, and the request's id at the end. An exception follows,
    each line of it indented: what clients have sent begins no line."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def formatMessage(self, record: logging.LogRecord) -> str:
        exchange = current.get()
        line = on_one_line(super().formatMessage(record))
        return line if exchange is None else f"{line} [{exchange.id}]"

    def formatException(self, info: Any) -> str:
        lines = super().formatException(info).splitlines()
        return "\n".join(f"  {on_one_line(line)}" for line in lines)

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class JsonLines(logging.Formatter):
    """One object a line; lines about a request have its members too."""

    def format(self, record: logging.LogRecord) -> str:
        seconds, rest = divmod(record.created, 1)
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        line: dict[str, object] = {
            "time": f"{at}.{int(rest * 1e6):06d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        exchange = current.get()
        if exchange is not None:
            line["request"] = exchange.id
        line |= getattr(record, "members", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        return without_secrets(json.dumps(line, default=str))


FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextLines, "json": JsonLines}
"""By the values of FRESHET_LOG_FORMAT."""


def configure(level: str, format: str) -> None:
    """Makes all loggers write lines of this format to the standard error, from this level on."""
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATTERS[format]())
    logging.basicConfig(level=level.upper(), handlers=[handler])


def log_request(exchange: HttpExchange, path: str) -> None:
    """Writes the line of a request that has been answered. `path` is shown in place of the request's."""
    milliseconds = round(exchange.seconds * 1000, 3)
    members: dict[str, object] = {
        "method": exchange.method,
        "path": path,
        "route": exchange.route,
        "status": exchange.status,
        "milliseconds": milliseconds,
        "key": exchange.key,
        "code": exchange.code,
    }
    level = logging.WARNING if exchange.status >= 500 else logging.INFO
    key = f" key {exchange.key}" if exchange.key else ""
    code = f" {exchange.code}" if exchange.code else ""
    message = f"{exchange.method} {path} {exchange.status}{code} in {milliseconds} ms{key}"
    requests.log(level, "%s", message, extra={"members": {k: v for k, v in members.items() if v != ""}})
