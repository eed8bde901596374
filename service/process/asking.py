"""Asking a running service over HTTP, for commands that it has to carry out itself."""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.errors import ServiceError, Unavailable
from service.settings.settings import Settings

_PAUSE_SECONDS = 0.2
_TIMEOUT_SECONDS = 60.0
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses that a service listens on, and where it can then be reached from here."""


@dataclass(frozen=True)
class RunningService:
    """A service at `url`. `key` is an admin's, if keys are needed; `certificate` a file with its own."""

    url: str
    key: str = ""
    certificate: str = ""

    @classmethod
    def of(cls, settings: Settings, url: str | None, key: str) -> RunningService:
        """The service of the settings, or the one at an address."""
        scheme = "https" if settings.tls_certificate else "http"
        host = _ANY_ADDRESS.get(settings.host, settings.host)
        host = f"[{host}]" if ":" in host else host
        here = f"{scheme}://{host}:{settings.port}"
        return cls((url or here).rstrip("/"), key, settings.tls_certificate)

    def back_up(self, path: Path) -> int:
        """The epoch of the backup that the service writes. Cancels it if this process is interrupted."""
        place = f"/v1/backups/{self.ask('POST', '/v1/backups', {'path': str(path)})['id']}"
        try:
            while (job := self.ask("GET", place))["state"] == "running":
                time.sleep(_PAUSE_SECONDS)
        except KeyboardInterrupt:
            self.ask("DELETE", place)
            raise
        if job["state"] != "done":
            raise _refusal(job["error"] or {"detail": "the backup was cancelled"})
        return int(job["epoch"])

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of an answer. Raises ServiceError for a refusal, or if the service cannot be reached."""
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=self._tls()) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(json.load(error)) from None
        except (urllib.error.URLError, ValueError) as error:
            raise Unavailable(
                f"the service cannot be reached at {self.url}: {getattr(error, 'reason', error)}",
                "name its address with --url",
            ) from None

    def _tls(self) -> ssl.SSLContext | None:
        if not self.url.startswith("https:"):
            return None
        context = ssl.create_default_context()
        if self.certificate:
            context.load_verify_locations(self.certificate)
        return context


def _refusal(problem: dict[str, Any]) -> ServiceError:
    """The error that a problem document tells of."""
    hint = problem.get("hint", "")
    if problem.get("status") == 401:
        hint = "name a file with an admin's key with --key-file"
    return ServiceError(str(problem.get("detail", problem)), hint)
